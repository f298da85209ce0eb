import type { PayloadKind } from './decode-payload.ts'
import type { PayloadError } from './payload-error.ts'

/** The errors of a list's items, each with its index: `evidence[3].tier`. */
export function itemErrors<T>(
  path: string,
  { validate }: PayloadKind<T>,
  items: readonly T[] | undefined,
): readonly PayloadError[] {
  return (items ?? []).flatMap((item, index) => {
    const at = `${path}[${index}]`
    return validate(item).map((error) => ({
      ...error,
      path: `${at}.${error.path}`,
      message: error.message.replace(JSON.stringify(error.path), () => JSON.stringify(`${at}.${error.path}`)),
    }))
  })
}
