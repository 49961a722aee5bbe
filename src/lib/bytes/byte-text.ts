/** A text in UTF-8 that is put together without strings, for texts of which there is one with every call. */
export interface ByteText {
  /** In bytes. */
  readonly length: number
  /** Adds text that is encoded already. */
  add(encoded: Uint8Array): void
  addText(text: string): void
  /** Adds a text as JSON does: quoted, and escaped where that is needed. */
  addString(text: string): void
  /** Adds a number as JSON does. */
  addNumber(value: number): void
  /** Adds a part of this text once more. */
  repeat(from: number, to: number): void
  /** Returns the text so far; the next one begins. */
  take(): Uint8Array
}

const encoder = new TextEncoder()
export const encoded = (text: string) => encoder.encode(text)

/** More than any number has. */
const LONGEST_NUMBER = 32
const [QUOTE, BACKSLASH, POINT, ZERO, SPACE, TILDE] = [0x22, 0x5c, 0x2e, 0x30, 0x20, 0x7e]
/** Digits are written of integers below this. */
const MOST = 2 ** 31

/** `capacity`: the usual size of a text, for which room is kept. */
export function byteText(capacity: number): ByteText {
  let bytes = new Uint8Array(capacity)
  let at = 0

  function makeRoom(more: number): void {
    if (at + more <= bytes.length) return
    const larger = new Uint8Array(Math.max(2 * bytes.length, at + more))
    larger.set(bytes.subarray(0, at))
    bytes = larger
  }

  function addText(text: string): void {
    makeRoom(3 * text.length)
    at += encoder.encodeInto(text, bytes.subarray(at)).written
  }

  /** Adds ASCII that stands in a string of JSON as it is; returns whether it is such a text. */
  function addPlain(text: string): boolean {
    const room = bytes
    const { length } = text
    const start = at
    for (let index = 0; index < length; index++) {
      const code = text.charCodeAt(index)
      if (code < SPACE || code > TILDE || code === QUOTE || code === BACKSLASH) return false
      room[start + index] = code
    }
    at = start + length
    return true
  }

  function addDigits(whole: number): void {
    const room = bytes
    let end = at + 1
    for (let above = 10; above <= whole; above *= 10) end += 1
    let left = whole
    for (let place = end - 1; place >= at; place--) {
      const tens = (left / 10) | 0
      room[place] = ZERO + left - 10 * tens
      left = tens
    }
    at = end
  }

  /** Adds a point and up to three digits. */
  function addFraction(thousandths: number): void {
    bytes[at++] = POINT
    for (let left = thousandths, unit = 100; left > 0; unit /= 10) {
      const digit = (left / unit) | 0
      bytes[at++] = ZERO + digit
      left -= digit * unit
    }
  }

  return {
    get length() {
      return at
    },
    add(encoded) {
      makeRoom(encoded.length)
      bytes.set(encoded, at)
      at += encoded.length
    },
    addText,
    addString(text) {
      makeRoom(text.length + 2)
      bytes[at++] = QUOTE
      if (addPlain(text)) bytes[at++] = QUOTE
      else {
        at -= 1
        addText(JSON.stringify(text))
      }
    },
    addNumber(value) {
      makeRoom(LONGEST_NUMBER)
      if (!(value >= 0 && value < MOST)) return addText(JSON.stringify(value))
      const whole = Math.floor(value)
      if (whole === value) return addDigits(whole)
      const thousandths = Math.round(1000 * value)
      // Equal to so few digits, it is printed with them.
      if (thousandths >= MOST || thousandths / 1000 !== value) return addText(JSON.stringify(value))
      addDigits(whole)
      addFraction(thousandths - 1000 * whole)
    },
    repeat(from, to) {
      makeRoom(to - from)
      bytes.copyWithin(at, from, to)
      at += to - from
    },
    take() {
      const text = bytes.slice(0, at)
      if (bytes.length > capacity) bytes = new Uint8Array(capacity)
      at = 0
      return text
    },
  }
}
