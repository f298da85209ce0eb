import { replaceRefs } from './refs-in-prose.ts'

/**
 * A label or literal as a line of an answer can hold it: on one line, without what would be a citation, a quotation or
 * a reference; of an id nobody labelled, what it ends in.
 */
export function plainName(text: string): string {
  const named = replaceRefs(text, (ref) => ref.split(/[./]/).at(-1) ?? '')
  return named
    .trim()
    .replace(/\s+/g, ' ')
    .replaceAll('[', '(')
    .replaceAll(']', ')')
    .replace(/["“”„«»‹›「」『』＂`‘]|(?<![\p{L}\p{N}])['’]|['’](?![\p{L}\p{N}])|&(?:quot|[lr]dquo);/gu, '')
}
