#pragma once

// The rows of the table of formats; each is defined beside its format.

#include <thalweg/data/format.h>

namespace thalweg::data {

Format ctf_format();
Format cbf_format();
Format csv_format();
Format tsv_format();
Format libsvm_format();
Format npy_format();
Format npz_format();
Format idx_format();
Format text_format();
Format image_map_format();
Format image_folder_format();
Format base64_images_format();
Format recordio_format();

}  // namespace thalweg::data
