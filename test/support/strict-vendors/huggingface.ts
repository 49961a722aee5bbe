import { cerebras } from './cerebras.ts'
import { fireworks } from './fireworks.ts'
import { together } from './together.ts'
import type { Reply, StrictVendor } from './vendor.ts'

/** Hugging Face's router, which hands a request on as it is: it has to please whichever provider is chosen. Groq, which
 *  also refuses formats beside functions, is asked like Cerebras otherwise. */
export const huggingface: StrictVendor = (asked, serial): Reply => {
  for (const provider of [cerebras, fireworks]) provider(asked, serial)
  return together(asked, serial)
}
