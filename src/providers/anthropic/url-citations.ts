import { asList, asRecord, asText } from '../../lib/json/lenient.ts'
import type { UrlCitation } from '../../modes/chat-completion.ts'

/** The web pages that a block of text cites; it is the text of the answer from `start_index` to before `end_index`. What
 *  cites documents has no equivalent in chat. */
export function urlCitations(citations: unknown, start_index: number, end_index: number): UrlCitation[] {
  return asList(citations).flatMap((citation) => {
    const { url, source, title } = asRecord(citation)
    const address = asText(url) || asText(source)
    if (!/^https?:/i.test(address)) return []
    return [{ type: 'url_citation', url_citation: { start_index, end_index, url: address, title: asText(title) } }]
  })
}
