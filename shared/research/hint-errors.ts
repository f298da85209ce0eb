import { joinPath, type PayloadError, payloadError } from './payload-error.ts'
import { refuseBlank } from './payload-rules.ts'

/** A hint needs a key and a value: who has none leaves the key out. */
export function hintErrors(path: string, hints: Readonly<Record<string, string>> | undefined): readonly PayloadError[] {
  return Object.entries(hints ?? {}).flatMap(([key, value]) => {
    if (refuseBlank('', key).length > 0) return [payloadError('field_blank', path, 'has a blank key')]
    return refuseBlank(joinPath([path, key]), value)
  })
}
