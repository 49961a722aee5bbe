/** How refusals name what cannot say something. */
export const GEMINI = "Gemini's generateContent"

/** The generation of a Gemini model, such as 2.5; undefined where its name does not tell. */
export function generationOf(model: string): number | undefined {
  const match = /gemini-(\d+(?:\.\d+)?)/.exec(model)
  return match ? Number(match[1]) : undefined
}
