/** The anchors of a page's headings, as they are made by what shows it: lower case, without punctuation, with hyphens. */
export function anchorsOf(text: string): string[] {
  const prose = text.replace(/^```[\s\S]*?^```$/gm, '')
  return [...prose.matchAll(/^#+ +(.+)$/gm)].map(([, heading]) =>
    (heading as string)
      .trim()
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/\s/g, '-'),
  )
}
