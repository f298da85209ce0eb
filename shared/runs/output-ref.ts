import type { StoredValue } from './event.ts'

/** The ref that stands for a block's output: of the first port by name: the order of a JSON object's members says nothing. */
export function outputRef(outputs: Readonly<Record<string, StoredValue>>): string | undefined {
  const [port] = Object.keys(outputs).sort()
  return port === undefined ? undefined : outputs[port]?.ref
}
