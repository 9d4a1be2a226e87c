"""Writes data/recurrent.json: outputs, gradients and losses of PyTorch's recurrent layers.

    python3 tests/nn/make_fixtures_recurrent.py      (needs torch and numpy; only to change the cases)
"""

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from make_fixtures import array, write


def randomize(net, size=1):
    with torch.no_grad():
        for value in net.parameters():
            value.copy_(array(*value.shape, low=-size, high=size))


def layer_case(make, lengths=None, states=False, **options):
    """One step of a layer with 3 inputs and 4 units on 3 sequences of 5 times."""
    layer = make(3, 4, **options).double()
    randomize(layer)
    batch_axis = 0 if options.get("batch_first") else 1
    x = array(3, 5, 3) if batch_axis == 0 else array(5, 3, 3)
    x.requires_grad_()
    case = {"x": x}
    given = None
    if states:
        count = layer.num_layers * (2 if layer.bidirectional else 1)
        first = [array(count, 3, 4, low=-1, high=1).requires_grad_() for _ in range(2 if make is nn.LSTM else 1)]
        given = tuple(first) if make is nn.LSTM else first[0]
        case |= dict(zip(("h0", "c0"), first))
    if lengths:
        case["lengths"] = torch.tensor(lengths)
        packed = pack_padded_sequence(x, lengths, batch_first=batch_axis == 0, enforce_sorted=False)
        y, last = layer(packed, given)
        y, _ = pad_packed_sequence(y, batch_first=batch_axis == 0, total_length=5)
    else:
        y, last = layer(x, given)
    last = last if isinstance(last, tuple) else (last,)
    heads = [array(*t.shape) for t in (y, *last)]
    sum((t * head).sum() for t, head in zip((y, *last), heads)).backward()
    case |= {"y": y, "y head": heads[0]}
    for name, value, head in zip("hc", last, heads[1:]):
        case |= {name: value, name + " head": head}
    for name in ("x", "h0", "c0"):
        if name in case:
            case["gradient " + name] = case[name].grad
    for name, value in layer.named_parameters():
        case |= {"parameter " + name: value, "gradient " + name: value.grad}
    return case


def cell_case(make):
    cell = make(3, 4).double()
    randomize(cell)
    x, states = array(2, 3), [array(2, 4) for _ in range(2 if make is nn.LSTMCell else 1)]
    following = cell(x, tuple(states)) if make is nn.LSTMCell else (cell(x, states[0]),)
    case = {"x": x} | dict(zip(("h0", "c0"), states)) | dict(zip("hc", following))
    return case | {"parameter " + name: value for name, value in cell.named_parameters()}


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(12, 6)
        self.lstm = nn.LSTM(6, 8, batch_first=True, bidirectional=True)
        self.out = nn.Linear(16, 5)

    def forward(self, x, lengths):
        packed = pack_padded_sequence(self.embedding(x), lengths, batch_first=True, enforce_sorted=False)
        y, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True, total_length=x.shape[1])
        return self.out(y)


def tagger_case(steps=50):
    """The losses of a tagger: a tag is (the word + the word before) modulo 5, -1 behind the lengths."""
    net = Tagger().double()
    randomize(net, 0.5)
    case = {"parameter " + name: value.detach().clone() for name, value in net.named_parameters()}
    words = (array(4, 7, low=0, high=11.99)).floor().long()
    lengths = torch.tensor([7, 3, 5, 1])
    tags = (words + F.pad(words, (1, 0))[:, :-1]) % 5
    tags[torch.arange(7) >= lengths[:, None]] = -1
    optimizer = torch.optim.SGD(net.parameters(), lr=0.5, momentum=0.9)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = F.cross_entropy(net(words, lengths).flatten(0, 1), tags.flatten(), ignore_index=-1, reduction="sum")
        loss = loss / lengths.sum()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return case | {"words": words, "lengths": lengths, "tags": tags, "losses": losses}


def cases():
    first = {"batch_first": True}
    deep = {"num_layers": 2, "bidirectional": True, **first}
    yield "lstm", layer_case(nn.LSTM, **first)
    yield "lstm deep", layer_case(nn.LSTM, [4, 1, 5], states=True, **deep)
    yield "lstm time first", layer_case(nn.LSTM, [2, 5, 3], states=True, bidirectional=True)
    yield "lstm without bias", layer_case(nn.LSTM, bias=False, **first)
    yield "gru", layer_case(nn.GRU, states=True, **first)
    yield "gru deep", layer_case(nn.GRU, [3, 5, 1], states=True, **deep)
    yield "gru without bias", layer_case(nn.GRU, bias=False, **first)
    yield "rnn", layer_case(nn.RNN, [1, 2, 5], states=True, **deep)
    yield "rnn relu", layer_case(nn.RNN, states=True, nonlinearity="relu", **first)
    yield "lstm cell", cell_case(nn.LSTMCell)
    yield "gru cell", cell_case(nn.GRUCell)
    yield "rnn cell", cell_case(nn.RNNCell)
    yield "tagger", tagger_case()


if __name__ == "__main__":
    write("recurrent", dict(cases()))
