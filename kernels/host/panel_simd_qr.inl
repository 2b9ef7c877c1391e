// QR's column step. Part of panel_simd.inl.

/// Which parts of a pass over the rows are to be done: the reflector, the products for the next column, or both.
enum class Pass { reflect, multiply, both };

/// One vector of rows from i on, columns k0 ... k0 + G - 1 of the block. `first`: x's own column is among them at k0,
/// and v has to be made; otherwise x and v are read back. Rows before s keep what they have and rows before sp
/// are no part of x (Masked only).
template <class R, int P, int G, Pass pass, bool Masked>
inline void qr_rows(R* const block, Index ld, Index i, Index s, Index sp, int j, int k0, bool first, const R* scale,
                    const Vec<R> (*coefficient)[P], Vec<R> (*sums)[P]) {
  constexpr bool reflect = pass != Pass::multiply, products = pass != Pass::reflect;
  Vec<R> v[P] = {}, x[P] = {}, a[P];
  if constexpr (reflect) {
    R* const column = block + j * P * ld + i;
    for (int p = 0; p < P; ++p) v[p] = aligned(column + p * ld);
    const Int<R> active = rows_from<R>(i) >= row_number<R>(s);
    if (first) {
      Vec<R> old[P];
      for (int p = 0; p < P; ++p) old[p] = v[p];
      multiply<R, P>(v, scale);
      for (int p = 0; p < P; ++p) put<R>(column + p * ld, Masked ? (active ? v[p] : old[p]) : v[p]);
    }
    if constexpr (Masked)
      for (int p = 0; p < P; ++p) v[p] = active ? v[p] : Vec<R>{};
  }
  if constexpr (products)
    if (!first)
      for (int p = 0; p < P; ++p) x[p] = aligned(block + ((j + 1) * P + p) * ld + i);
  for (int g = 0; g < G; ++g) {
    R* const column = block + (k0 + g) * P * ld + i;
    for (int p = 0; p < P; ++p) a[p] = aligned(column + p * ld);
    if constexpr (reflect) {
      // a -= v coefficient
      a[0] -= v[0] * coefficient[g][0];
      if constexpr (P == 2) {
        a[0] += v[1] * coefficient[g][1];
        a[1] -= v[0] * coefficient[g][1];
        a[1] -= v[1] * coefficient[g][0];
      }
      for (int p = 0; p < P; ++p) put<R>(column + p * ld, a[p]);
    }
    if constexpr (products) {
      if (g == 0 && first)
        for (int p = 0; p < P; ++p) x[p] = a[p];
      if constexpr (Masked)
        if (g == 0)
          for (int p = 0; p < P; ++p) x[p] = rows_from<R>(i) >= row_number<R>(sp) ? x[p] : Vec<R>{};
      add_product<R, P>(x, a, sums[g]);
    }
  }
}

/// All rows for G columns.
template <class R, int P, int G, Pass pass>
void qr_columns(R* const block, Index ld, Index rows, Index s, Index sp, int j, int k0, bool first, const R* scale,
                const R* coefficient, R* products) {
  constexpr Index run = 256;  // vectors that are added up before their sum joins the others
  Vec<R> c[G][P] = {};
  if constexpr (pass != Pass::multiply)
    for (int g = 0; g < G; ++g)
      for (int p = 0; p < P; ++p) c[g][p] = all<R>(coefficient[g * P + p]);
  R total[G][P] = {};
  const Index end = up(rows, VL<R>), masked_end = sp == 0 ? 0 : up(sp, VL<R>) < end ? up(sp, VL<R>) : end;
  Index i = down(pass == Pass::multiply ? sp : s, VL<R>);
  while (i < end) {
    Vec<R> sums[G][P] = {};
    if (i < masked_end) {
      for (; i < masked_end; i += VL<R>)
        qr_rows<R, P, G, pass, true>(block, ld, i, s, sp, j, k0, first, scale, c, sums);
    } else {
      const Index stop = i + run * VL<R> < end ? i + run * VL<R> : end;
      if (first)
        for (; i < stop; i += VL<R>) qr_rows<R, P, G, pass, false>(block, ld, i, s, sp, j, k0, true, scale, c, sums);
      else
        for (; i < stop; i += VL<R>) qr_rows<R, P, G, pass, false>(block, ld, i, s, sp, j, k0, false, scale, c, sums);
    }
    if constexpr (pass != Pass::reflect)
      for (int g = 0; g < G; ++g)
        for (int p = 0; p < P; ++p) total[g][p] += sum<R>(sums[g][p]);
  }
  if constexpr (pass != Pass::reflect)
    for (int g = 0; g < G; ++g)
      for (int p = 0; p < P; ++p) products[g * P + p] = total[g][p];
}

template <class R, int P, Pass pass>
void qr_groups(R* block, Index ld, Index rows, Index s, Index sp, int j, int w, const R* scale, const R* coefficient,
               R* products) {
  constexpr int G = (wide ? 8 : 4) / P;
  auto at = [](auto* p, int offset) { return p == nullptr ? p : p + offset; };
  for (int k = j + 1; k < w;) {
    const int left = w - k, o = (k - j - 1) * P;
    const bool first = k == j + 1;
    int done = 1;
    if (left >= G) {
      qr_columns<R, P, G, pass>(block, ld, rows, s, sp, j, k, first, scale, at(coefficient, o), at(products, o));
      done = G;
    } else if (G > 4 && left >= 4) {
      qr_columns<R, P, 4, pass>(block, ld, rows, s, sp, j, k, first, scale, at(coefficient, o), at(products, o));
      done = 4;
    } else if (G > 2 && left >= 2) {
      qr_columns<R, P, 2, pass>(block, ld, rows, s, sp, j, k, first, scale, at(coefficient, o), at(products, o));
      done = 2;
    } else {
      qr_columns<R, P, 1, pass>(block, ld, rows, s, sp, j, k, first, scale, at(coefficient, o), at(products, o));
    }
    k += done;
  }
}

template <class R, int P>
void qr_column(R* B, std::int64_t ld, std::int64_t rows, std::int64_t s, std::int64_t sp, std::int64_t c0, int j, int w,
               const R* scale, const R* coefficient, R* products) {
  R* const block = B + c0 * P * ld;
  if (scale == nullptr)
    qr_groups<R, P, Pass::multiply>(block, ld, rows, s, sp, j, w, scale, coefficient, products);
  else if (j + 1 < w)
    qr_groups<R, P, Pass::both>(block, ld, rows, s, sp, j, w, scale, coefficient, products);
  else
    scale_column<R, P>(B, ld, rows, s, c0 + j, scale);
}
