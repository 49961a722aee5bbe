/** A content-disposition that makes a browser save the answer under this name. */
export function attachment(filename: string): string {
  const plain = filename.replace(/[^\x20-\x7e]|["%\\/]/g, '_')
  const exact = encodeURIComponent(filename.toWellFormed()).replace(/['()*]/g, escaped)
  return `attachment; filename="${plain}"; filename*=UTF-8''${exact}`
}

const escaped = (character: string) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`
