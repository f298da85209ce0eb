import { refuseEntityId } from '../graph/entity-id.ts'

/** Six-part ids and object refs that stand in a text, not in brackets. */
export function refsInProse(text: string): readonly string[] {
  const found: string[] = []
  replaceRefs(text, (ref) => {
    found.push(ref)
    return ref
  })
  return found
}

/** The text with something else in their place. */
export function replaceRefs(text: string, replace: (ref: string) => string): string {
  const named = text.replace(OBJECT_REF, (ref) => replace(ref))
  return named.replace(DOTTED, (ref) => (refuseEntityId(ref) === undefined ? replace(ref) : ref))
}

const OBJECT_REF = /objstore:\/\/[A-Za-z0-9._-]{1,64}\/[A-Za-z0-9._/-]{0,200}[A-Za-z0-9]/g
/** Six segments or more, so that a longer name has no id in it. */
const DOTTED = /(?<![\w.-])[A-Za-z0-9][\w-]*(?:\.[A-Za-z0-9][\w-]*){5,}(?![\w-])/g
