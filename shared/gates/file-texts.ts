import type { Json } from '../canonical.ts'
import type { Block, PortType } from '../dag/dag.ts'
import type { GateFacts } from './gate.ts'

const REF = /^objstore:\/\/[^/\s]+\/[0-9a-f]{64}$/

/** The bytes behind an object ref; undefined = there is no such object. */
export type ReadObject = (ref: string) => Promise<Uint8Array | undefined>

type Ports = Readonly<Record<string, { readonly type: PortType }>>
type Values = Readonly<Record<string, Json>>

/**
 * What gates look at: of a port of type file or artifact the text behind its ref, since authors write about the text. The
 * refs stay beside it for the few kinds that ask about the object itself (artifact_exists, port_type). Bytes that are no
 * UTF-8 are read with replacement characters. A port whose object is gone has no text, and no gate about it passes.
 */
export async function withFileTexts(
  block: Pick<Block, 'inputs' | 'outputs'>,
  facts: GateFacts,
  read: ReadObject,
): Promise<GateFacts> {
  const inputs = refsOf(block.inputs, facts.inputs)
  const outputs = refsOf(block.outputs, facts.outputs)
  if (inputs.length + outputs.length === 0) return facts
  return {
    ...facts,
    inputs: await textsFor(facts.inputs, inputs, read),
    outputs: await textsFor(facts.outputs, outputs, read),
    refs: Object.fromEntries([...inputs, ...outputs]),
  }
}

/** Values as a model is told them: files as their text. One whose object is gone stays its ref. */
export async function told(ports: Ports, values: Values, read: ReadObject): Promise<Values> {
  const refs = refsOf(ports, values)
  return refs.length === 0 ? values : { ...values, ...(await textsFor(values, refs, read)) }
}

function refsOf(ports: Ports, values: Values): readonly (readonly [string, string])[] {
  return Object.entries(ports).flatMap(([port, { type }]) => {
    const value = Object.hasOwn(values, port) ? values[port] : undefined
    const isFile = type === 'file' || type === 'artifact'
    return isFile && typeof value === 'string' && REF.test(value) ? [[port, value] as const] : []
  })
}

async function textsFor(
  values: Values,
  refs: readonly (readonly [string, string])[],
  read: ReadObject,
): Promise<Record<string, Json>> {
  const seen: Record<string, Json> = { ...values }
  for (const [port, ref] of refs) {
    const bytes = await read(ref)
    if (bytes === undefined) delete seen[port]
    else seen[port] = new TextDecoder().decode(bytes)
  }
  return seen
}
