#pragma once

namespace thalweg::onednn {

void register_conv();
void register_matmul();

}  // namespace thalweg::onednn
