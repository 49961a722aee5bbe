/** The generation of a Gemini model, such as 2.5. A name without it, such as gemini-flash-latest, is that of the newest;
 *  undefined of other models. */
export function generationOf(model: string): number | undefined {
  const match = /gemini-(\d+(?:\.\d+)?)?/.exec(model)
  return match ? Number(match[1] ?? Number.POSITIVE_INFINITY) : undefined
}
