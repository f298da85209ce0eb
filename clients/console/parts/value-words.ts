import { isTree } from './value-shape.ts'

/** The beginning of what a folded tree holds, on one line: `message: it is 3, outcome: upheld`. */
export function treePreview(value: object, most = 90): string {
  const isList = Array.isArray(value)
  let said = ''
  for (const [name, member] of Object.entries(value)) {
    if (isTree(member) || said.length > most) continue
    said += `${said === '' ? '' : ', '}${isList ? '' : `${name}: `}${String(member).slice(0, most)}`
  }
  const line = said.replace(/\s+/g, ' ')
  return line.length > most ? `${line.slice(0, most).trimEnd()}…` : line
}

/** `12 items`, `1 member`: what a folded tree holds. */
export function treeWords(value: object): string {
  const [count, thing] = Array.isArray(value) ? [value.length, 'item'] : [Object.keys(value).length, 'member']
  return `${count} ${thing}${count === 1 ? '' : 's'}`
}
