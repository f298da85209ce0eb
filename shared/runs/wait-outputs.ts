import { CALLBACK_URL, type OutputPort } from '../dag/dag.ts'
import type { Json } from '../text/json.ts'

/**
 * What an event or a callback said, as outputs of the block that waited for it: members of an object by the name of their
 * port; where there is one port alone and no member of its name, all of it. The address is no part of what came.
 */
export function callbackValues(
  payload: Json,
  outputs: Readonly<Record<string, OutputPort>>,
): Readonly<Record<string, Json>> {
  const ports = Object.keys(outputs).filter((port) => port !== CALLBACK_URL)
  const [only] = ports
  const members = membersOf(payload)
  if (ports.length === 1 && only !== undefined && (members === undefined || !Object.hasOwn(members, only))) {
    return { [only]: payload }
  }
  if (members === undefined) return {}
  return Object.fromEntries(Object.entries(members).filter(([port]) => ports.includes(port)))
}

function membersOf(payload: Json): Readonly<Record<string, Json>> | undefined {
  const isObject = typeof payload === 'object' && payload !== null && !Array.isArray(payload)
  return isObject ? (payload as Readonly<Record<string, Json>>) : undefined
}
