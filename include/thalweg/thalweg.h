#pragma once

// All of Thalweg.

#include <thalweg/base/error.h>
#include <thalweg/base/random.h>
#include <thalweg/data/idx.h>
#include <thalweg/data/loader.h>
#include <thalweg/graph/autograd.h>
#include <thalweg/model/parameters.h>
#include <thalweg/model/safetensors.h>
#include <thalweg/nn/activation.h>
#include <thalweg/nn/dense.h>
#include <thalweg/nn/init.h>
#include <thalweg/nn/module.h>
#include <thalweg/nn/parameter.h>
#include <thalweg/nn/sequential.h>
#include <thalweg/ops/conv.h>
#include <thalweg/ops/index.h>
#include <thalweg/ops/linear.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/pool.h>
#include <thalweg/ops/random.h>
#include <thalweg/ops/reduce.h>
#include <thalweg/ops/shape.h>
#include <thalweg/ops/views.h>
#include <thalweg/tensor/tensor.h>
#include <thalweg/train/averager.h>
#include <thalweg/train/checkpoint.h>
#include <thalweg/train/clip.h>
#include <thalweg/train/evaluate.h>
#include <thalweg/train/metrics.h>
#include <thalweg/train/optimizer.h>
#include <thalweg/train/schedule.h>
#include <thalweg/train/session.h>
#include <thalweg/train/trainer.h>
