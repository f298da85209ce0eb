import { canonicalJson, type Json, sha256 } from '../../shared/canonical.ts'
import { compileDag } from '../../shared/compile/compile-dag.ts'
import type { Block, Dag } from '../../shared/dag/dag.ts'
import { placeholderValue, renderTemplate } from '../../shared/dag/template.ts'
import { Fault } from '../../shared/errors.ts'
import { childOutputs } from '../../shared/runs/child-outputs.ts'
import type { World } from '../../shared/world.ts'
import type { BlockCall } from '../blocks/block-call.ts'
import { childCaps } from '../blocks/child-caps.ts'
import { earlierChild } from '../blocks/earlier-child.ts'
import { checkValues } from './check-values.ts'
import { childOf } from './child-of.ts'
import type { RunOrder } from './create-run.ts'
import { readDocument } from './read-document.ts'
import { refuseDepth } from './refuse-depth.ts'

/** A child run but for the token that waits for it. */
export type ChildOrder = Omit<RunOrder, 'parent'>
type ChildBlock = Extract<Block, { mode: 'dag' }>

/** What an attempt of a `mode: dag` block starts; its faults fail the block. */
export async function orderChild(
  call: BlockCall,
  block: ChildBlock,
  attempt: number,
  values: Readonly<Record<string, Json>>,
): Promise<ChildOrder> {
  const { world, meta } = call
  await refuseDepth(world, meta, `DAG "${block.dag.name}" for block "${block.id}"`)
  const { dag, dag_hash } = await readDocument(world, await sourceOf(world, block.dag.name))
  refuseOutputs(block, dag)
  const inputs = childInputs(block, values)
  const { text, parts } = compileDag(dag)
  return {
    ...childOf(call, attempt, world.settings.safety.max_run_sec),
    dag,
    dag_hash,
    machine: await world.machine.deployed(text, dag_hash, parts),
    context: checkValues(dag, { inputs }),
    overrides: {},
    body_hash: sha256(canonicalJson({ name: block.dag.name, inputs })),
    caps: await childCaps(call, dag),
    ...(await earlierChild(call)),
  }
}

/** A deployed document; where none of this name is, the shipped example, so that examples find theirs in any folder. */
async function sourceOf({ documents }: World, name: string) {
  if ((await documents.read(name, 'deployed')) !== undefined) return { name }
  return (await documents.read(name, 'example')) === undefined ? { name } : { example: name }
}

/** Said before anything is spent: an output this block promises that the child cannot give. */
function refuseOutputs(block: ChildBlock, dag: Dag): void {
  const missing = childOutputs(block, dag).filter(({ sources, required, named }) => {
    return sources.length === 0 && (required || named !== undefined)
  })
  const [first] = missing
  if (first === undefined) return
  const { port, named } = first
  const seen = named === undefined ? `no last block with an output "${port}"` : `no output "${named}"`
  const fix = `Name one under dag.outputs of block "${block.id}": ${port}: BLOCK.OUTPUT.`
  const message = `Cannot start DAG "${block.dag.name}": output "${block.id}.${port}" comes from it, but it has ${seen}. ${fix}`
  throw new Fault('InvalidInput', 'unknown_child_output', message)
}

/** Templates over the block's inputs; a text that is one placeholder is the value itself, and left out if it has none. */
function childInputs({ id, dag, inputs }: ChildBlock, values: Readonly<Record<string, Json>>): Record<string, Json> {
  const given: Record<string, Json> = {}
  if (Object.keys(dag.inputs).length === 0) {
    for (const port of Object.keys(inputs)) if (values[port] !== undefined) given[port] = values[port]
    return given
  }
  for (const [name, template] of Object.entries(dag.inputs)) {
    const value = typeof template === 'string' ? textValue(id, name, template, values) : template
    if (value !== undefined) given[name] = value
  }
  return given
}

const ONE_PLACEHOLDER = /^\s*\{\{[^{}]*\}\}\s*$/

function textValue(id: string, name: string, text: string, values: Readonly<Record<string, Json>>): Json | undefined {
  const whole = placeholderValue(text, values)
  if (whole !== undefined) return whole
  const rendered = renderTemplate(text, values)
  if (rendered.ok) return rendered.text
  if (ONE_PLACEHOLDER.test(text)) return undefined
  const message = `Cannot write input "${name}" of the child of block "${id}": ${rendered.missing.join(', ')} has no value. Give it as a run input, a default, or wire it with "from".`
  throw new Fault('InvalidInput', 'missing_input', message)
}
