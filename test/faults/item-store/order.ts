/** Order of texts as DynamoDB has it: by UTF-8 bytes. It differs from JavaScript's where surrogates meet U+E000 and up. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0
  const end = Math.min(a.length, b.length)
  for (let i = 0; i < end; i += 1) {
    const [mine, theirs] = [a.charCodeAt(i), b.charCodeAt(i)]
    if (mine !== theirs) return rank(mine) - rank(theirs)
  }
  return a.length - b.length
}

export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  return Buffer.compare(a, b)
}

/** Surrogates stand for characters past U+FFFF. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit
}
