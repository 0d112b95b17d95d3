// The discrete Fourier transform of lengths that are powers of two.
"use strict";
(self.gspaParts = self.gspaParts || []).push(function (gspa) {
  const tables = new Map(); // length to cos and sin of 2 pi k/length, each computed by itself: no error builds up

  function table(length) {
    if (!tables.has(length)) {
      const cos = new Float64Array(length / 2), sin = new Float64Array(length / 2);
      for (let k = 0; k < length / 2; k++) {
        cos[k] = Math.cos(2 * Math.PI * k / length);
        sin[k] = Math.sin(2 * Math.PI * k / length);
      }
      tables.set(length, { cos, sin });
    }
    return tables.get(length);
  }

  // In place: sum_j x_j e^{sign 2 pi i j k/length}, not divided by the length.
  function fourier(real, imaginary, sign) {
    const length = real.length, { cos, sin } = table(length);
    for (let i = 1, j = 0; i < length; i++) {
      let bit = length >> 1;
      for (; j & bit; bit >>= 1) j ^= bit;
      j ^= bit;
      if (i < j) {
        const a = real[i], b = imaginary[i];
        real[i] = real[j];
        imaginary[i] = imaginary[j];
        real[j] = a;
        imaginary[j] = b;
      }
    }
    for (let half = 1; half < length; half *= 2) {
      const stride = length / (2 * half);
      for (let start = 0; start < length; start += 2 * half) {
        for (let k = 0; k < half; k++) {
          const c = cos[k * stride], s = sign * sin[k * stride], i = start + k, j = i + half;
          const a = real[j] * c - imaginary[j] * s, b = real[j] * s + imaginary[j] * c;
          real[j] = real[i] - a;
          imaginary[j] = imaginary[i] - b;
          real[i] += a;
          imaginary[i] += b;
        }
      }
    }
  }

  // The least power of two that is at least n, and at least 2.
  const powerOfTwo = (n) => 2 ** Math.max(1, Math.ceil(Math.log2(n)));

  Object.assign(gspa, { fourier, powerOfTwo });
});
