import { asList, asRecord, asText } from '../../../lib/json/lenient.ts'
import type { UrlCitation } from '../../../modes/chat-completion.ts'

/** How Perplexity's texts name the results of its searches. */
const MARK = /\[(?:\w+:)?(\d+)\]/g

/** The web pages that the text of a response cites, by what Perplexity has found. */
export function citationsIn(output: unknown, text: string): UrlCitation[] {
  const results = asList(output)
    .map(asRecord)
    .filter(({ type }) => type === 'search_results')
    .flatMap((item) => asList(item.results).map(asRecord))
  if (results.length === 0) return []
  return [...text.matchAll(MARK)].flatMap((mark) => {
    const result = results.find(({ id }) => String(id) === mark[1])
    const url = asText(result?.url)
    if (!/^https?:/i.test(url)) return []
    const place = { start_index: mark.index, end_index: mark.index + mark[0].length }
    return [{ type: 'url_citation', url_citation: { ...place, url, title: asText(result?.title) } }]
  })
}
