/** `sent back once`, `sent back 3 times`: how often a gate put a block back to its beginning. */
export function backWords(epoch: number): string {
  return epoch === 1 ? 'sent back once' : `sent back ${epoch} times`
}
