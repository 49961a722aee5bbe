import { runningDigest } from '../../lib/crypto.ts'
import { GatewayError } from '../../lib/errors.ts'
import { asRecord } from '../../lib/json/lenient.ts'
import type { FileContent } from '../../stores/sql/batches/file-records.ts'
import { type Line, lineSplitter } from '../lines.ts'
import { asksForManagedTools } from '../managed-tools.ts'

/** Checks the content of a batch's input while it arrives: that it is text with lines, and which of them asks for managed
 *  tools. Throws what the client is told. */
export interface ContentCheck {
  push(piece: Uint8Array): void
  end(): FileContent
}

/** Where managed tools may be asked for: the word as it is, or a letter of it in an escape. */
const MANAGED_TOOLS = /mcp|\\u00(?:6[d3]|70)/i
const LONGEST_MATCH = '\\u006d'.length

const invalid = (message: string) =>
  new GatewayError('invalid_request', message, { param: 'file', code: 'invalid_file' })

export function contentCheck(limits: { readonly fileBytes: number; readonly lineBytes: number }): ContentCheck {
  const digest = runningDigest()
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const splitter = lineSplitter(limits.lineBytes)
  let bytes = 0
  let lines = 0
  let managedToolsLine: number | null = null
  /** The end of the text so far. */
  let tail = ''
  /** A line that has not ended may ask for managed tools. */
  let isSuspect = false

  function take(found: Iterable<Line>): boolean {
    let ended = false
    for (const { line, bytes: text } of found) {
      ended = true
      lines += 1
      if (isSuspect && managedToolsLine === null && text && isForManagedTools(text)) managedToolsLine = line
    }
    return ended
  }

  function decoded(piece?: Uint8Array): string {
    try {
      return piece ? decoder.decode(piece, { stream: true }) : decoder.decode()
    } catch {
      throw invalid('The file is not text in UTF-8.')
    }
  }

  return {
    push(piece) {
      bytes += piece.byteLength
      if (bytes > limits.fileBytes) {
        const message = `The file is larger than ${limits.fileBytes} bytes.`
        throw new GatewayError('payload_too_large', message, { param: 'file' })
      }
      const text = decoded(piece)
      if (text.includes('\0')) throw invalid('The file is no text: it holds a NUL.')
      digest.push(piece)
      const suspicious = MANAGED_TOOLS.test(text) || MANAGED_TOOLS.test(tail + text.slice(0, LONGEST_MATCH))
      tail = (tail + text.slice(-LONGEST_MATCH)).slice(-LONGEST_MATCH)
      isSuspect ||= suspicious
      if (take(splitter.push(piece))) isSuspect = suspicious
    },
    end() {
      decoded()
      take(splitter.end())
      if (lines === 0) throw invalid(bytes === 0 ? 'The file is empty.' : 'The file has only blank lines.')
      return { bytes, sha256: digest.end(), lines, managedToolsLine }
    },
  }
}

/** Lines that are not JSON are named when a batch is made of the file. */
function isForManagedTools(line: Uint8Array): boolean {
  const text = new TextDecoder().decode(line)
  if (!MANAGED_TOOLS.test(text)) return false
  try {
    return asksForManagedTools(asRecord(JSON.parse(text)))
  } catch {
    return false
  }
}
