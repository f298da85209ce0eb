/** Ids of blocks, and names of ports and run inputs: they become keys of objects, paths and state names. */
export const NAME_RULE = 'a letter, then letters, digits, "_" or "-", 64 at most'

export function isName(text: string): boolean {
  return NAME.test(text) && !isReserved(text)
}

/** Keys that reach an object's prototype; refused wherever a document or an expression could use them. */
export function isReserved(key: string): boolean {
  return key === '__proto__' || key === 'constructor' || key === 'prototype'
}

const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/
