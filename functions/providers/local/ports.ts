import type { Json } from '../../../shared/canonical.ts'
import type { PortType } from '../../../shared/dag/dag.ts'
import type { DispatchRequest } from '../../../shared/provider.ts'
import { fitsPort } from '../../../shared/runs/resolve-inputs.ts'
import { demandOf } from './demand.ts'
import { obey } from './feedback.ts'
import { namedValue } from './named.ts'
import type { Task, Tool } from './tool.ts'

type Problem = { readonly problem: string }

/**
 * The answer's text: of a single string port the text itself, else a JSON object of the ports. Every port is made from
 * the request alone. string: the tool's text; with several, each asks under its own description or name. json: the
 * value of that name in the inputs, else the tool's value. file, artifact: the ref of that name in the inputs, else the
 * tool's text. number, boolean: the value of that name in the inputs (named.ts). What none of this gives is left out, so that the contract names it: nothing is invented.
 */
export function answerText(request: DispatchRequest, task: Task, tool: Tool): { readonly text: string } | Problem {
  const ports = Object.keys(request.output_schema)
  const values: [string, Json][] = []
  for (const port of ports) {
    request.signal.throwIfAborted()
    const made = portValue(request, task, tool, port)
    if ('problem' in made) return made
    if (made.value !== undefined) values.push([port, made.value])
  }
  const [first] = values
  const text = ports.length === 1 ? first?.[1] : undefined
  if (typeof text === 'string' && !readsAsJson(text)) return { text }
  return { text: JSON.stringify(Object.fromEntries(values)) }
}

function portValue(
  { output_schema, feedback }: DispatchRequest,
  task: Task,
  tool: Tool,
  port: string,
): { readonly value: Json | undefined } | Problem {
  const { type, description } = output_schema[port] ?? { type: 'string' }
  const isText = (of: PortType) => of !== 'json' && of !== 'number' && of !== 'boolean'
  if (type !== 'string') {
    const value = namedValue(task.inputs, port, (found) => found !== null && fitsPort(type, found))
    if (value !== undefined || type === 'number' || type === 'boolean') return { value }
  }
  const several = Object.values(output_schema).filter((other) => isText(other.type)).length > 1
  const asked = several && isText(type) ? { ...task, prompt: `${description ?? port}: ${task.prompt}` } : task
  const draft = tool(asked, port)
  if ('problem' in draft) return draft
  return {
    value: type === 'json' ? draft.value : obey(draft, asked, demandOf(port, Object.keys(output_schema), feedback)),
  }
}

/** Text the reader of answers would take for an object of ports. */
function readsAsJson(text: string): boolean {
  return text.trimStart().startsWith('{') || text.includes('```json')
}
