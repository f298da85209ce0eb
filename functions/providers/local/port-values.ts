import type { PortType } from '../../../shared/dag/dag.ts'
import type { DispatchRequest } from '../../../shared/providers/provider.ts'
import { fitsPort } from '../../../shared/runs/block-inputs.ts'
import type { Json } from '../../../shared/text/json.ts'
import { followFeedback, readDemand } from './feedback.ts'
import type { Task, Tool } from './tools.ts'

type Problem = { readonly problem: string }

/**
 * The answer's text: of a single string port the text itself, else a JSON object of the ports. Every port is made from
 * the request alone. string: the tool's text; with several, each asks under its own description or name. json: the
 * value of that name in the inputs, else the tool's value. file, artifact: the ref of that name in the inputs, else the
 * tool's text. number, boolean: the value of that name in the inputs. What none of this gives is left out, so that the contract names it: nothing is invented.
 */
export function answerPorts(request: DispatchRequest, task: Task, tool: Tool): { readonly text: string } | Problem {
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
    value:
      type === 'json'
        ? draft.value
        : followFeedback(draft, asked, readDemand(port, Object.keys(output_schema), feedback)),
  }
}

/** Text the reader of answers would take for an object of ports. */
function readsAsJson(text: string): boolean {
  return text.trimStart().startsWith('{') || text.includes('```json')
}

const MAX_VALUES = 2_000

/**
 * The value the inputs give a name, if `fits` takes it: the input of that name, else the first member of that name in
 * the json inputs (breadth first, 2,000 values), else what a text input writes after it: `score: 7`, `is ready = true`.
 */
function namedValue(
  inputs: Readonly<Record<string, Json>>,
  name: string,
  fits: (value: Json) => boolean,
): Json | undefined {
  const level: Json[] = [inputs]
  for (const value of level) {
    const found = memberOf(value, name)
    if (found !== undefined && fits(found)) return found
    if (level.length < MAX_VALUES) level.push(...membersOf(value))
  }
  const texts = Object.values(inputs).filter((value) => typeof value === 'string')
  return texts.map((text) => writtenValue(text, name)).find((value) => value !== undefined && fits(value))
}

function memberOf(value: Json, name: string): Json | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  return Object.hasOwn(value, name) ? (value as Readonly<Record<string, Json>>)[name] : undefined
}

function membersOf(value: Json): readonly Json[] {
  return typeof value === 'object' && value !== null ? Object.values(value).slice(0, MAX_VALUES) : []
}

function writtenValue(text: string, name: string): Json | undefined {
  const words = name.split(/[_-]+/).join('[ _-]')
  const written = new RegExp(
    `(?:^|[^\\p{L}\\p{N}])${words}\\s*[:=]\\s*(true|false|-?\\d+(?:\\.\\d+)?)(?![\\p{L}\\p{N}])`,
    'iu',
  )
  const found = written.exec(text)?.[1]
  return found === undefined ? undefined : (JSON.parse(found.toLowerCase()) as Json)
}
