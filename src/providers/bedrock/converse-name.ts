/** The name of the API in refusals. */
export const CONVERSE = "Bedrock's Converse API"
