/** What a model is told whose API has no format for any JSON. */
export const JSON_ONLY = 'Answer with one JSON object and nothing else: no explanation, and no code fence around it.'
