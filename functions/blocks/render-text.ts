import { renderTemplate } from '../../shared/dag/template.ts'
import { Fault } from '../../shared/errors.ts'
import type { BlockCall } from './block-call.ts'
import type { Dispatch } from './produced.ts'

/** A text of the block's agent with its values in place; Fault InvalidInput missing_input. */
export function renderText({ block }: BlockCall, template: string, values: Dispatch['values']): string {
  const rendered = renderTemplate(template, values)
  if (rendered.ok) return rendered.text
  const message = `Cannot write the prompt of block "${block.id}": ${rendered.missing.join(', ')} has no value. Give it as a run input, a default, or wire it with "from".`
  throw new Fault('InvalidInput', 'missing_input', message)
}
