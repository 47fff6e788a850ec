// How results reach an array.
#pragma once

namespace kernelrank {

enum class Store { replace, add };

}  // namespace kernelrank
