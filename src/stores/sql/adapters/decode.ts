/** Decodes the text of a value by its type's OID: int2, int4, oid and floats become numbers, json is parsed, bytea
 *  becomes bytes, timestamptz becomes ISO 8601 in UTC, and arrays become arrays of these. Other types stay text: int8
 *  and numeric, so that no digit is lost, and types that are not used. */
export function decode(typeId: number, text: string): unknown {
  const scalar = scalars.get(typeId)
  if (scalar) return scalar(text)
  const elementType = arrays.get(typeId)
  if (elementType === undefined) return text
  return parseArray(text, scalars.get(elementType) ?? ((element) => element))
}

type Parse = (text: string) => unknown

const scalars: ReadonlyMap<number, Parse> = new Map<number, Parse>([
  [16, (text) => text === 't'], // bool
  [17, bytesOf], // bytea
  [21, Number], // int2
  [23, Number], // int4
  [26, Number], // oid
  [114, JSON.parse], // json
  [700, Number], // float4
  [701, Number], // float8
  [1184, isoInUtc], // timestamptz
  [3802, JSON.parse], // jsonb
])

/** The element types by array type. */
const arrays: ReadonlyMap<number, number> = new Map([
  [199, 114], // json
  [1000, 16], // bool
  [1001, 17], // bytea
  [1005, 21], // int2
  [1007, 23], // int4
  [1009, 25], // text
  [1014, 1042], // bpchar
  [1015, 1043], // varchar
  [1016, 20], // int8
  [1021, 700], // float4
  [1022, 701], // float8
  [1028, 26], // oid
  [1115, 1114], // timestamp
  [1182, 1082], // date
  [1185, 1184], // timestamptz
  [1231, 1700], // numeric
  [2951, 2950], // uuid
  [3807, 3802], // jsonb
])

const printed = /^(\d{4,})-(\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d+))?([+-]\d\d(?::\d\d){0,2})$/

/** ISO 8601 with at least milliseconds, so that a time that JavaScript wrote is read back unchanged. `infinity` and
 *  years before Christ stay as Postgres prints them. */
function isoInUtc(text: string): string {
  const parts = printed.exec(text)
  if (!parts) return text
  const [, year = '', monthAndDay, time, fraction = '', offset = ''] = parts
  const isoYear = year.length > 4 ? `+${year.padStart(6, '0')}` : year
  const local = Date.parse(`${isoYear}-${monthAndDay}T${time}Z`)
  const seconds = new Date(local - secondsOf(offset) * 1000).toISOString().slice(0, -5)
  return `${seconds}.${fraction.padEnd(3, '0')}Z`
}

function secondsOf(offset: string): number {
  const [hours = 0, minutes = 0, seconds = 0] = offset.slice(1).split(':').map(Number)
  return (offset.startsWith('-') ? -1 : 1) * (hours * 3600 + minutes * 60 + seconds)
}

/** Parses `\\x0aff…`. */
function bytesOf(text: string): Uint8Array {
  return Uint8Array.from({ length: (text.length - 2) / 2 }, (_, index) =>
    Number.parseInt(text.slice(2 + 2 * index, 4 + 2 * index), 16),
  )
}

/** Parses `{1,"a \"b\"",NULL,{…}}`, with or without the bounds that Postgres prints if they do not begin at 1. */
function parseArray(text: string, parse: Parse): unknown[] {
  let at = text.indexOf('{')
  const level = (): unknown[] => {
    const elements: unknown[] = []
    at += 1
    while (text[at] !== '}') {
      if (text[at] === '{') elements.push(level())
      else if (text[at] === '"') elements.push(parse(quoted()))
      else elements.push(bare())
      if (text[at] === ',') at += 1
    }
    at += 1
    return elements
  }
  const quoted = (): string => {
    let element = ''
    for (at += 1; text[at] !== '"'; at += 1) {
      if (text[at] === '\\') at += 1
      element += text[at]
    }
    at += 1
    return element
  }
  const bare = (): unknown => {
    const start = at
    while (text[at] !== ',' && text[at] !== '}') at += 1
    const element = text.slice(start, at)
    return element === 'NULL' ? null : parse(element)
  }
  return level()
}
