/** The name of the API in refusals. */
export const GEMINI = "Gemini's generateContent"
