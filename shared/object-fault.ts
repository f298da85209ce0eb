import { Fault } from './errors.ts'

/** What an object store answers when there is none of that ref, or not the bytes that were stored. */
export function objectFault(seen: 'missing' | 'corrupt', ref: string): Fault {
  if (seen === 'missing') {
    const message = `Cannot read object ${ref}: there is none of that name. It may have expired, or the ref is mistyped.`
    return new Fault('NotFound', 'object_missing', message, { facts: { ref } })
  }
  const message = `Cannot read object ${ref}: its content does not have that sha256, so it was damaged after it was stored. Store the content again.`
  return new Fault('Bug', 'object_corrupt', message, { facts: { ref } })
}
