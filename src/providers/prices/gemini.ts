import { hearing, type Rows, reading, seeing, tokens } from './price.ts'

export const gemini: Rows = {
  // Argon and Carbon cost half of this until 2026-11-30, the Flash models from 3.6 to 3.8 until 2026-12-31.
  'gemini-4-argon': tokens(4, 20, 0.2),
  'gemini-4-carbon': tokens(4, 20, 0.2),
  'gemini-4-neon': tokens(3, 15, 0.15),
  'gemini-4-hydrogen': tokens(1.5, 7.5, 0.075),
  'gemini-3.8-flash': tokens(1.5, 7.5, 0.15),
  'gemini-3.7-flash': tokens(1.5, 7.5, 0.15),
  'gemini-3.6-flash': tokens(1.5, 7.5, 0.15),
  'gemini-3.5-flash': tokens(1.5, 9, 0.15),
  'gemini-3.5-flash-lite': tokens(0.3, 2.5, 0.03),
  'gemini-3.1-pro-preview': tokens(2, 12, 0.2),
  'gemini-3.1-flash-lite-preview': tokens(0.25, 1.5, 0.025),
  'gemini-3.1-flash-lite': tokens(0.25, 1.5, 0.025),
  'gemini-3-pro-preview': tokens(2, 12, 0.2),
  'gemini-3-flash-preview': { ...tokens(0.5, 3, 0.05), ...hearing(1) },
  // The output of these is images or speech. The words that they write cost less.
  'gemini-3.1-flash-image': tokens(0.5, 60),
  'gemini-3.1-flash-image-preview': tokens(0.5, 60),
  'gemini-3.1-flash-tts-preview': tokens(1, 20),
  'gemini-3-pro-image': tokens(2, 120),
  'gemini-3-pro-image-preview': tokens(2, 120),
  'gemini-2.5-pro-preview-tts': tokens(1, 20),
  'gemini-2.5-flash-image': tokens(0.3, 30),
  'gemini-2.5-pro': tokens(1.25, 10, 0.125),
  'gemini-2.5-flash': { ...tokens(0.3, 2.5, 0.03), ...hearing(1) },
  'gemini-2.5-flash-lite': { ...tokens(0.1, 0.4, 0.01), ...hearing(0.3) },
  'gemini-2.0-flash': { ...tokens(0.1, 0.4, 0.025), ...hearing(0.7) },
  'gemini-2.0-flash-lite': tokens(0.075, 0.3),
  'gemini-embedding-2': { ...reading(0.2), ...hearing(6.5), ...seeing(0.45) },
  'gemini-embedding': reading(0.15),
}
