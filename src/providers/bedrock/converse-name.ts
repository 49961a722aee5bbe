/** What refusals call the API. */
export const CONVERSE = "Bedrock's Converse API"
