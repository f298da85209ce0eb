import { bindTools, type ToolPins, toolsOf } from '../../shared/agents/bind-tools.ts'
import type { Dag, OutputPort, PortType, RunInput, ToolPin, ToolUse } from '../../shared/dag/dag.ts'
import { Fault } from '../../shared/errors.ts'
import type { DescribedStep, StepPort } from '../../shared/steps/described-step.ts'
import type { Json } from '../../shared/text/json.ts'
import { BUILTIN_TOOLS } from '../../shared/tools/builtin-tools.ts'
import { readMcpUse } from '../../shared/tools/settings.ts'
import { mcpToolPin, toolHash } from '../../shared/tools/tool-pin.ts'
import type { World } from '../../shared/world.ts'
import { childSource } from './child-documents.ts'
import { type DocumentWorld, readDocument } from './documents.ts'

type ToolWorld = DocumentWorld & Pick<World, 'documents' | 'mcp'>

/** What one tool is known by. */
type NamedUse = Pick<ToolUse, 'use' | 'kind'>

/**
 * The document of a run with each tool of its agents frozen: what it is called, says of itself and takes, with its hash. A
 * hash of the block stands for them too, so that a kept result of other tools is not taken for its own; the identity of the
 * DAG stays that of the document as written. Of a document without such agents nobody is asked. Faults of MCP servers;
 * InvalidInput unknown_tool.
 */
export async function pinTools(world: ToolWorld, tenant: string, dag: Dag): Promise<Dag> {
  const uses = toolsOf(dag)
  return uses.length === 0 ? dag : bindTools(dag, await describeTools(world, tenant, uses))
}

/**
 * What tools say of themselves now, by their use: a server's, told by it; a step of the project, by its module or settings;
 * a document, by what it declares; and ours. Each server is asked once.
 */
export async function describeTools(world: ToolWorld, tenant: string, uses: readonly NamedUse[]): Promise<ToolPins> {
  const of = (kind: ToolUse['kind']) => [...new Set(uses.filter((use) => use.kind === kind).map(({ use }) => use))]
  const groups = await Promise.all([
    describeServerTools(world, of('mcp')),
    describeSteps(world, of('step')),
    Promise.all(of('dag').map(async (use) => [use, await describeDocument(world, tenant, use)] as const)),
    of('builtin').map((use) => [use, describeBuiltin(use)] as const),
  ])
  return new Map(groups.flat())
}

/** A start is asked for by somebody who waits: API Gateway lets them wait 29 s. */
const TELL_MS = 20_000

type Described = readonly (readonly [use: string, pin: ToolPin])[]

async function describeServerTools({ mcp }: Pick<World, 'mcp'>, uses: readonly string[]): Promise<Described> {
  const servers = [...new Set(uses.map((use) => readMcpUse(use).server))]
  const told = await Promise.all(servers.map(async (server) => [server, await askServer(mcp, server)] as const))
  const byServer = new Map(told)
  return uses.map((use) => {
    const { server, tool } = readMcpUse(use)
    const found = byServer.get(server)?.find(({ name }) => name === tool)
    if (found !== undefined) return [use, mcpToolPin(found)] as const
    const known = (byServer.get(server) ?? []).map(({ name }) => name).join(', ')
    const message = `Cannot start: MCP server "${server}" has no tool "${tool}", or mcp_servers.${server}.tools does not allow it; allowed are ${known || 'none'}.`
    throw new Fault('InvalidInput', 'unknown_tool', message, { facts: { server, tool } })
  })
}

async function askServer(mcp: World['mcp'], server: string) {
  const signal = AbortSignal.timeout(TELL_MS)
  try {
    return await mcp.tools(server, signal)
  } catch (cause) {
    if (cause instanceof Fault || !signal.aborted) throw cause
    const message = `Cannot start: MCP server "${server}" did not tell of its tools within ${TELL_MS} ms. Is it well?`
    throw new Fault('Unavailable', 'mcp_unavailable', message, { facts: { server }, cause })
  }
}

async function describeSteps({ steps }: Pick<World, 'steps'>, uses: readonly string[]): Promise<Described> {
  if (uses.length === 0) return []
  const known = await steps.describe(uses)
  return uses.map((use) => {
    const step = Object.hasOwn(known, use) ? known[use] : undefined
    if (step !== undefined && !('problem' in step)) return [use, stepPin(use, step)] as const
    const why = step === undefined ? 'the project does not have it' : step.problem.replace(/\.$/, '')
    throw new Fault('InvalidInput', 'unknown_tool', `Cannot start: tool "${use}": ${why}.`, { facts: { tool: use } })
  })
}

function stepPin(use: string, step: DescribedStep): ToolPin {
  const { kind, hash, effect, inputs = {}, outputs = {}, input_schema, description } = step
  const told = description ?? `A step of this project: ${use.replace(/^.*\//, '').replace(/\.[^.]*$/, '')}.`
  const code = { kind, hash, effect, ...(step.stand_in === undefined ? {} : { stand_in: step.stand_in }) }
  const schema =
    input_schema === undefined ? schemaOfPorts(inputs, step.inputs === undefined) : withoutDialect(input_schema)
  return { ...pinOf(use, told, schema), step: code, outputs: { ...outputs } }
}

async function describeDocument(world: ToolWorld, tenant: string, use: string): Promise<ToolPin> {
  const name = use.slice(use.indexOf('.') + 1)
  const { dag } = await readDocument(world, tenant, await childSource(world, name))
  const told = `Runs the document "${name}" as a run of its own, and waits for what comes of it.`
  const inputs = Object.fromEntries(Object.entries(dag.inputs).map(([port, input]) => [port, portOfRunInput(input)]))
  return { ...pinOf(use, told, schemaOfPorts(inputs, false)), outputs: sinkOutputs(dag) }
}

function portOfRunInput({ type = 'json', required, description }: RunInput): StepPort {
  return { type, required, ...(description === undefined ? {} : { description }) }
}

/** Where two blocks at the end have an output of one name, the first one's. */
function sinkOutputs({ blocks }: Dag): Readonly<Record<string, OutputPort>> {
  const upstream = new Set(blocks.flatMap((block) => block.upstream))
  const sinks = blocks.filter(({ id }) => !upstream.has(id)).toReversed()
  return Object.assign({}, ...sinks.map(({ outputs }) => outputs))
}

function describeBuiltin(use: string): ToolPin {
  const found = Object.hasOwn(BUILTIN_TOOLS, use) ? BUILTIN_TOOLS[use] : undefined
  if (found !== undefined) return { ...pinOf(use, found.description, found.input_schema), outputs: found.outputs }
  const known = Object.keys(BUILTIN_TOOLS).join(', ')
  throw new Fault('InvalidInput', 'unknown_tool', `Cannot start: there is no tool "${use}"; there are ${known}.`)
}

function pinOf(name: string, description: string, input_schema: Json): ToolPin {
  return { description, input_schema, hash: toolHash({ name, description, input_schema }) }
}

/** `open`: what it takes is not known, and everything is let through. */
function schemaOfPorts(ports: Readonly<Record<string, StepPort>>, open: boolean): Json {
  const properties = Object.entries(ports).map(([name, port]) => [name, schemaOfPort(port)])
  const required = Object.entries(ports).flatMap(([name, port]) => (port.required ? [name] : []))
  return { type: 'object', properties: Object.fromEntries(properties), required, additionalProperties: open }
}

const REF_WORDS = 'The ref of a file: objstore://..'

function schemaOfPort({ type, description }: StepPort): Json {
  const isRef = type === 'file' || type === 'artifact'
  const words = description ?? (isRef ? REF_WORDS : undefined)
  return { ...SCHEMAS[type], ...(words === undefined ? {} : { description: words }) }
}

const SCHEMAS: Readonly<Record<PortType, Readonly<Record<string, string>>>> = {
  string: { type: 'string' },
  number: { type: 'number' },
  boolean: { type: 'boolean' },
  json: {},
  file: { type: 'string' },
  artifact: { type: 'string' },
}

function withoutDialect(schema: Json): Json {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return { type: 'object' }
  return Object.fromEntries(Object.entries(schema).filter(([key]) => key !== '$schema'))
}
