import fc from 'fast-check'

/** Properties are tried with the same values every time, so that a run says something about the change and not about its
 *  luck. `FUZZ_SEED` tries others. */
fc.configureGlobal({ seed: Number(process.env.FUZZ_SEED ?? 20_261_121) })
