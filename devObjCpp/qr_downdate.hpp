// Removing rows from R alone. Arguments have been checked.
#pragma once

#include "devobj/qr_update.hpp"

namespace devobj {

/// R1^H R1 = R^H R - U^H U, and d1 from d and the removed rows' right-hand sides rhs.b. Returns info as qr_remove_rows.
template <class T>
std::int64_t qr_downdate(View<T> R, View<T> U, View<T> R1, RightSides<T> rhs, Queue& q, std::int64_t block);

}  // namespace devobj
