/** The generation of a Gemini model, such as 2.5; undefined if its name does not contain it. */
export function generationOf(model: string): number | undefined {
  const match = /gemini-(\d+(?:\.\d+)?)/.exec(model)
  return match ? Number(match[1]) : undefined
}
