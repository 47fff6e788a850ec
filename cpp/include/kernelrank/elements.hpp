// Which numbers of a matrix are multiplied.
#pragma once

namespace kernelrank {

enum class Elements { plain, squared };

}  // namespace kernelrank
