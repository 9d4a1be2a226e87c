#pragma once

// All of Thalweg.

#include <thalweg/base/error.h>
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
#include <thalweg/ops/linear.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/reduce.h>
#include <thalweg/ops/views.h>
#include <thalweg/tensor/tensor.h>
