"use strict";
(() => {
  const run = JSON.parse(document.getElementById("thalweg-run").textContent);
  const host = document.getElementById("charts");
  if (!host) return;

  const kHeight = 250;
  const kPad = {left: 52, right: 12, top: 10, bottom: 36};

  // --- numbers and axes ---

  const finite = (v) => typeof v === "number" && Number.isFinite(v);
  const grouped = (v) => Math.round(v).toString().replace(/\B(?=(\d{3})+$)/g, ",");

  function shown(v) {
    if (!finite(v)) return "–";
    const size = Math.abs(v);
    if (size !== 0 && (size < 1e-3 || size >= 1e5)) return v.toExponential(3);
    return v.toFixed(4);
  }

  // The largest of 1, 2, 5 times a power of ten that gives at least `count` steps.
  function niceStep(span, count) {
    const raw = span / count;
    const power = 10 ** Math.floor(Math.log10(raw));
    const factor = [5, 2, 1].find((f) => f * power <= raw) || 1;
    return factor * power;
  }

  function linearTicks(low, high, count) {
    const step = niceStep(high - low || 1, count);
    const ticks = [];
    for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; ++i)
      ticks.push(i * step);
    return ticks;
  }

  function logTicks(low, high) {
    const ticks = [];
    for (let p = Math.floor(Math.log10(low)); p <= Math.log10(high); ++p)
      for (const f of [1, 2, 5]) ticks.push(f * 10 ** p);
    const inside = ticks.filter((v) => v >= low * 0.999 && v <= high * 1.001);
    const powers = inside.filter((v) => /^1/.test(v.toExponential()));
    return inside.length > 7 && powers.length > 1 ? powers : inside;
  }

  function tickText(v) {
    const size = Math.abs(v);
    if (size === 0) return "0";
    if (size >= 1e6) return +(v / 1e6).toPrecision(4) + "M";
    if (size >= 1e4) return +(v / 1e3).toPrecision(4) + "k";
    const short = +v.toPrecision(5);  // 0.0006000000000000001 is 0.0006
    return size < 1e-3 ? short.toExponential() : String(short);
  }

  function extent(values) {
    let low = Infinity, high = -Infinity;
    for (const v of values) {
      if (!finite(v)) continue;
      low = Math.min(low, v);
      high = Math.max(high, v);
    }
    return low <= high ? [low, high] : null;
  }

  // The mean over about 2 % of the points. The window is centred and shrinks towards both ends, so
  // that the curve neither lags behind a quick descent nor starts beside its first point.
  function smoothed(values) {
    const widest = Math.floor(values.length / 100);
    const sums = [0], counts = [0];
    values.forEach((v, i) => {
      sums.push(sums[i] + (finite(v) ? v : 0));
      counts.push(counts[i] + (finite(v) ? 1 : 0));
    });
    return values.map((v, i) => {
      const half = Math.min(i, values.length - 1 - i, widest);
      const count = counts[i + half + 1] - counts[i - half];
      return finite(v) ? (sums[i + half + 1] - sums[i - half]) / count : null;
    });
  }

  // --- elements ---

  function svg(parent, name, attributes, text) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text !== undefined) element.textContent = text;
    parent.append(element);
    return element;
  }

  function html(parent, name, properties) {
    const element = Object.assign(document.createElement(name), properties);
    parent.append(element);
    return element;
  }

  function linePath(xs, ys) {
    let path = "", pen = "M";
    xs.forEach((x, i) => {
      if (!finite(ys[i])) {
        pen = "M";
        return;
      }
      path += `${pen}${x.toFixed(1)} ${ys[i].toFixed(1)}`;
      pen = "L";
    });
    return path;
  }

  function bandPath(xs, low, high) {
    const ok = xs.map((_, i) => i).filter((i) => finite(low[i]) && finite(high[i]));
    if (ok.length < 2) return "";
    const point = (ys) => (i) => `${xs[i].toFixed(1)} ${ys[i].toFixed(1)}`;
    return "M" + ok.map(point(high)).join("L") + "L" + ok.reverse().map(point(low)).join("L") + "Z";
  }

  // --- one chart ---

  // spec: {id, title, x: {name, values}, series: [{name, style, values, low, high, smooth}], log}
  class Chart {
    constructor(spec) {
      this.spec = spec;
      this.log = false;
      this.at = -1;
      for (const series of spec.series)
        series.line = series.smooth ? smoothed(series.values) : series.values;
      this.build();
      new ResizeObserver(() => this.draw()).observe(this.figure);
      this.draw();
    }

    build() {
      const spec = this.spec;
      this.figure = html(host, "figure", {className: "chart", id: "chart-" + spec.id});
      const caption = html(this.figure, "figcaption", {});
      html(caption, "b", {textContent: spec.title});
      for (const series of spec.series)
        html(caption, "span", {className: "key " + series.style, textContent: series.name});
      if (spec.log) this.addLogButton(caption);
      const label = this.description();
      this.svg = svg(this.figure, "svg", {role: "img", tabindex: "0", "aria-label": label});
      this.readout = html(this.figure, "div", {className: "readout", hidden: true});
      this.readout.setAttribute("aria-live", "polite");
      this.listen();
    }

    addLogButton(caption) {
      const button = html(caption, "button", {type: "button", textContent: "log scale"});
      button.setAttribute("aria-pressed", "false");
      button.addEventListener("click", () => {
        this.log = !this.log;
        button.setAttribute("aria-pressed", String(this.log));
        this.draw();
      });
    }

    description() {
      const parts = this.spec.series.map((series) => {
        const values = series.line.filter(finite);
        return values.length === 0 ? `${series.name}: no values`
          : `${series.name}: from ${shown(values[0])} to ${shown(values[values.length - 1])}`;
      });
      return `${this.spec.title}; ${parts.join("; ")}. Arrow keys read values.`;
    }

    listen() {
      this.svg.addEventListener("pointermove", (event) => {
        const box = this.svg.getBoundingClientRect();
        this.show(this.nearest((event.clientX - box.left) * this.width / box.width));
      });
      this.svg.addEventListener("pointerleave", () => this.show(-1));
      this.svg.addEventListener("blur", () => this.show(-1));
      this.svg.addEventListener("keydown", (event) => {
        const last = this.spec.x.values.length - 1;
        const stride = event.shiftKey ? 10 : 1;
        const to = {ArrowRight: Math.min(this.at + stride, last),
          ArrowLeft: Math.max(this.at - stride, 0), Home: 0, End: last, Escape: -1}[event.key];
        if (to === undefined) return;
        event.preventDefault();
        this.show(to);
      });
    }

    scales() {
      const {x, series} = this.spec;
      const all = series.flatMap((s) => [...s.line, ...(s.range || [])]);
      let [low, high] = extent(all) || [0, 1];
      this.isLog = this.log && low > 0;
      if (this.isLog) {
        low /= 1.05;
        high *= 1.05;
      } else {
        const room = (high - low || Math.abs(high) || 1) * 0.05;
        // Room below must not make a loss or a rate look as if it could be negative.
        low = low >= 0 ? Math.max(0, low - room) : low - room;
        high += room;
      }
      const first = x.values[0], span = x.values[x.values.length - 1] - first || 1;
      const map = this.isLog ? Math.log : (v) => v;
      const scale = (kHeight - kPad.top - kPad.bottom) / (map(high) - map(low));
      this.low = low;
      this.high = high;
      this.toX = (v) => kPad.left + (v - first) / span * (this.width - kPad.left - kPad.right);
      // What is outside, such as single losses beyond the axis, is drawn at its edge.
      this.toY = (v) => finite(v)
        ? kHeight - kPad.bottom - (map(Math.min(Math.max(v, low), high)) - map(low)) * scale : null;
    }

    draw() {
      this.width = Math.max(280, Math.round(this.figure.clientWidth));
      this.svg.setAttribute("viewBox", `0 0 ${this.width} ${kHeight}`);
      this.svg.replaceChildren();
      this.scales();
      this.drawAxes();
      this.xs = this.spec.x.values.map(this.toX);
      for (const series of this.spec.series) this.drawSeries(series);
      this.cursor = svg(this.svg, "g", {});
      this.show(this.at);
    }

    drawAxes() {
      const bottom = kHeight - kPad.bottom, right = this.width - kPad.right;
      const ticks = this.isLog
        ? logTicks(this.low, this.high) : linearTicks(this.low, this.high, 4);
      for (const v of ticks) {
        const y = this.toY(v);
        svg(this.svg, "line", {class: "grid", x1: kPad.left, x2: right, y1: y, y2: y});
        svg(this.svg, "text", {x: kPad.left - 8, y: y + 4, "text-anchor": "end"}, tickText(v));
      }
      svg(this.svg, "line", {class: "base", x1: kPad.left, x2: right, y1: bottom, y2: bottom});
      const values = this.spec.x.values;
      const places = linearTicks(values[0], values[values.length - 1], this.width / 110);
      for (const v of places.filter(Number.isInteger))
        svg(this.svg, "text", {x: this.toX(v), y: bottom + 16, "text-anchor": "middle"},
          tickText(v));
      svg(this.svg, "text", {x: right, y: kHeight - 4, "text-anchor": "end"}, this.spec.x.name);
    }

    drawSeries(series) {
      const group = svg(this.svg, "g", {class: series.style});
      if (series.low) {
        const band = bandPath(this.xs, series.low.map(this.toY), series.high.map(this.toY));
        svg(group, "path", {class: "band", d: band});
      }
      if (series.smooth)
        svg(group, "path", {class: "line raw", d: linePath(this.xs, series.values.map(this.toY))});
      const ys = series.line.map(this.toY);
      svg(group, "path", {class: "line", d: linePath(this.xs, ys)});
      if (this.xs.length > 40) return;
      this.xs.forEach((x, i) => {
        if (finite(ys[i])) svg(group, "circle", {class: "dot", cx: x, cy: ys[i], r: 3.5});
      });
    }

    nearest(pixel) {
      let best = 0;
      this.xs.forEach((x, i) => {
        if (Math.abs(x - pixel) < Math.abs(this.xs[best] - pixel)) best = i;
      });
      return best;
    }

    show(index) {
      this.at = index;
      this.cursor.replaceChildren();
      this.readout.hidden = index < 0;
      if (index < 0) return;
      const x = this.xs[index];
      const bottom = kHeight - kPad.bottom;
      svg(this.cursor, "line", {class: "rule", x1: x, x2: x, y1: kPad.top, y2: bottom});
      this.readout.replaceChildren();
      const at = grouped(this.spec.x.values[index]);
      html(this.readout, "b", {textContent: `${this.spec.x.name} ${at}`});
      for (const series of this.spec.series) this.showSeries(series, index, x);
      const share = x / this.width;
      this.readout.style.left = share < 0.5 ? `calc(${100 * share}% + 12px)` : "auto";
      this.readout.style.right = share < 0.5 ? "auto" : `calc(${100 - 100 * share}% + 12px)`;
    }

    showSeries(series, index, x) {
      const value = series.line[index];
      const row = html(this.readout, "div", {className: series.style});
      html(row, "i", {textContent: series.name});
      row.append(" " + shown(value));
      if (series.low && series.low[index] !== series.high[index])
        row.append(` (${shown(series.low[index])} to ${shown(series.high[index])})`);
      if (!finite(value)) return;
      const group = svg(this.cursor, "g", {class: series.style});
      svg(group, "circle", {class: "dot", cx: x, cy: this.toY(value), r: 4.5});
    }
  }

  // --- the charts of a run ---

  // Single steps far out (the first losses, a spike) should not press the curve flat: the axis ends
  // at the 99th percentile of what was measured, or at the smooth curve if that goes beyond.
  function usualRange(values) {
    const sorted = values.filter(finite).sort((a, b) => a - b);
    const at = (share) => sorted[Math.round(share * (sorted.length - 1))];
    return sorted.length ? [at(0.01), at(0.99)] : [];
  }

  const positive = (values) => values.every((v) => v === null || v > 0);

  function lossBySteps(steps) {
    const several = steps.loss.some((v, i) => steps.low[i] !== steps.high[i]);
    const range = several ? [...steps.low, ...steps.high] : steps.loss;
    const series = {name: "train", style: "train", smooth: true, values: steps.loss,
      range: usualRange(range), low: several ? steps.low : null, high: several ? steps.high : null};
    return {id: "loss-steps", title: "Loss by step", log: positive(steps.low), series: [series],
      x: {name: "step", values: steps.step}};
  }

  function metricByEpochs(name, epochs) {
    const series = ["train", "test"]
      .filter((part) => epochs.some((e) => name in e[part]))
      .map((part) => ({name: part, style: part, values: epochs.map((e) => e[part][name] ?? null)}));
    const title = (name[0] || "").toUpperCase() + name.slice(1).replaceAll("_", " ");
    return {id: name.toLowerCase().replace(/[^a-z0-9]/g, "-"), title: title + " by epoch", series,
      log: name.includes("loss") && series.every((s) => positive(s.values)),
      x: {name: "epoch", values: epochs.map((e) => e.epoch)}};
  }

  function learningRate(steps) {
    return {id: "learning-rate", title: "Learning rate", log: positive(steps.learning_rate),
      x: {name: "step", values: steps.step},
      series: [{name: "rate", style: "rate-series", values: steps.learning_rate}]};
  }

  const names = new Set(run.epochs.flatMap((e) => Object.keys({...e.test, ...e.train})));
  if (run.steps.step.length) new Chart(lossBySteps(run.steps));
  for (const name of names) new Chart(metricByEpochs(name, run.epochs));
  if (run.steps.step.length) new Chart(learningRate(run.steps));
})();
