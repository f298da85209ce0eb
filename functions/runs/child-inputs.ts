import type { Json } from '../../shared/canonical.ts'
import type { Block } from '../../shared/dag/dag.ts'
import { placeholderValue, renderTemplate } from '../../shared/dag/template.ts'
import { Fault } from '../../shared/errors.ts'

/** Templates over the block's inputs; a text that is one placeholder is the value itself, and left out if it has none. */
export function childInputs(
  { id, dag, inputs }: Extract<Block, { mode: 'dag' }>,
  values: Readonly<Record<string, Json>>,
): Record<string, Json> {
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
