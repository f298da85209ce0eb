import type { StoredValue } from './event.ts'

/** The ref that stands for a block's output: the first port by name, since the order of JSON members says nothing. */
export function outputRef(outputs: Readonly<Record<string, StoredValue>>): string | undefined {
  const [port] = Object.keys(outputs).sort()
  return port === undefined ? undefined : outputs[port]?.ref
}
