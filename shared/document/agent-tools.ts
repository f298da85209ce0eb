import type { Acting, ToolApproval, ToolUse } from '../dag/dag.ts'
import { STEP_PATH } from '../dag/handlers.ts'
import { LIMITS } from '../limits.ts'
import type { Problem } from '../text/document-problems.ts'
import type { Json } from '../text/json.ts'
import type { Path } from '../text/source-position.ts'
import { didYouMean, listed, quoted, suggest } from '../text/wording.ts'
import { BUILTIN_TOOLS, isBuiltinTool } from '../tools/builtin-tools.ts'
import { type AllowedTools, findMcpServer, isAllowedTool, mcpToolRules, readMcpUse } from '../tools/settings.ts'
import { toolNames } from '../tools/tool-names.ts'
import { readCondition } from './control-flow.ts'
import { readToolGates } from './gates.ts'
import { readApproval } from './read-approval.ts'
import { type Mapping, type Reading, readList, readMapping, readSection, SECTIONS } from './sections.ts'

/** Keys of `agent` that say how it acts. */
interface ActingKeys {
  readonly tools?: Json | undefined
  readonly max_turns?: number | undefined
  readonly max_parallel?: number | undefined
  readonly max_refused?: number | undefined
  readonly taint?: Acting['taint'] | undefined
}

/** What makes an agent one that acts (docs/agents.md); undefined: it names no tools. */
export function readActing(reading: Reading, keys: ActingKeys, path: Path): Acting | undefined {
  const { tools: given, max_turns = 20, max_parallel = 8, max_refused = 5, taint = 'approve' } = keys
  if (given === undefined) {
    refuseWithoutTools(reading, keys, path)
    return undefined
  }
  const list = readList(reading, given, [...path, 'tools'])
  if (list === undefined) return undefined
  if (list.length === 0 || list.length > LIMITS.agent_tools) {
    const text = `has ${list.length} tools; allowed are 1 to ${LIMITS.agent_tools}`
    reading.problems.push({
      code: 'limit_exceeded',
      path: [...path, 'tools'],
      say: ({ who }) => ({ text: `${who} ${text}` }),
    })
    return undefined
  }
  const read = list.map((tool, index) => readTool(reading, tool, [...path, 'tools', index]))
  refuseTwice(reading, read, [...path, 'tools'])
  const uses = read.filter((tool) => tool !== undefined)
  const names = toolNames(uses.map(({ use }) => use))
  const tools = uses.map((tool, index): ToolUse => ({ ...tool, name: names[index] ?? '' }))
  return { tools, max_turns, max_parallel, max_refused, taint }
}

function refuseWithoutTools({ problems }: Reading, keys: ActingKeys, path: Path): void {
  for (const key of ['max_turns', 'max_parallel', 'max_refused', 'taint'] as const) {
    if (keys[key] === undefined) continue
    const say: Problem['say'] = ({ place }) => ({
      text: `${place} is there, but the agent has no "tools"`,
      hint: 'Add tools: [..], or remove it.',
    })
    problems.push({ code: 'missing_key', path: [...path, key], on: 'key', say })
  }
}

function refuseTwice({ problems }: Reading, tools: readonly (NamelessTool | undefined)[], path: Path): void {
  const seen = new Set<string>()
  for (const [index, tool] of tools.entries()) {
    if (tool === undefined) continue
    if (seen.has(tool.use)) {
      const text = `names the tool ${quoted(tool.use)} twice`
      const say: Problem['say'] = ({ who }) => ({ text: `${who} ${text}`, hint: 'Remove one.' })
      problems.push({ code: 'duplicate_tool', path: [...path, index], say })
    }
    seen.add(tool.use)
  }
}

type NamelessTool = Omit<ToolUse, 'name'>

/** What a call may take where nobody says. */
const TOOL_TIMEOUT_MS = 60_000

/** `{ use: .. }`, or the name alone. */
function readTool(reading: Reading, given: Json, path: Path): NamelessTool | undefined {
  const section = readSection(reading, SECTIONS.tool, typeof given === 'string' ? { use: given } : given, path)
  if (section?.use === undefined) return undefined
  const { use } = section
  const kind = readKind(reading, use, [...path, 'use'])
  const gates = readToolGates(reading, section.gates, [...path, 'gates'])
  const approval = readToolApproval(reading, section.approval, [...path, 'approval'], use)
  const config = section.config === undefined ? {} : readMapping(reading, section.config, [...path, 'config'])
  if (kind === undefined || config === undefined) return undefined
  if (kind !== 'step' && section.config !== undefined) refuseConfig(reading, use, [...path, 'config'])
  const rules = rulesOf(reading, kind, use)
  const { effect = rules.effect, idempotent = rules.idempotent, untrusted = rules.untrusted } = section
  if (kind === 'mcp') refuseWeaker(reading, { use, effect, idempotent, untrusted }, rules, path)
  const { max_calls, timeout_ms = TOOL_TIMEOUT_MS } = section
  const asked = approval === undefined ? {} : { approval }
  const capped = max_calls === undefined ? {} : { max_calls }
  return { use, kind, effect, idempotent, untrusted, gates, ...asked, ...capped, timeout_ms, config }
}

type ToolRules = Pick<ToolUse, 'effect' | 'idempotent' | 'untrusted'>

/** A document may take a server's tool for more dangerous than the operator does, never for less. */
function refuseWeaker(
  { problems, routing }: Reading,
  { use, ...said }: ToolRules & Pick<ToolUse, 'use'>,
  rules: ToolRules,
  path: Path,
): void {
  if (routing === undefined) return
  const { server, tool } = readMcpUse(use)
  const weaker = [
    ...(said.effect === 'read' && rules.effect === 'write'
      ? [['effect', 'read', `mcp_servers.${server}.effects: { ${tool}: read }`] as const]
      : []),
    ...(said.idempotent && !rules.idempotent
      ? [['idempotent', 'true', `mcp_servers.${server}.idempotent: [${tool}]`] as const]
      : []),
    ...(!said.untrusted && rules.untrusted
      ? [['untrusted', 'false', `mcp_servers.${server}.trust: trusted`] as const]
      : []),
  ]
  for (const [key, value, where] of weaker) {
    const say: Problem['say'] = ({ place }) => ({
      text: `${place} is ${value}, which of a server's tool only the operator may say`,
      hint: `Ask them for ${where} in sluice.yaml, or remove it.`,
    })
    problems.push({ code: 'weaker_than_settings', path: [...path, key], say })
  }
}

/** What a tool does where the document does not say: of a server's tool only the operator knows. */
function rulesOf({ routing }: Reading, kind: ToolUse['kind'], use: string): ReturnType<typeof mcpToolRules> {
  if (kind === 'mcp') return mcpToolRules(routing?.mcp_servers ?? {}, use)
  const { effect = 'write', untrusted = false } = (kind === 'builtin' ? BUILTIN_TOOLS[use] : undefined) ?? {}
  return { effect, idempotent: false, untrusted }
}

/** What is called; a server, step or built-in that the place does not have is a problem here. */
function readKind(reading: Reading, use: string, path: Path): ToolUse['kind'] | undefined {
  if (use.startsWith('./')) return readStepTool(reading, use, path)
  if (isBuiltinTool(use)) return 'builtin'
  if (/^dag\.[A-Za-z0-9][\w.-]{0,127}$/.test(use)) return 'dag'
  const [, server = '', tool = ''] = /^([A-Za-z][\w-]{0,63})\.(.{1,200})$/.exec(use) ?? []
  if (server === '' || tool === '') return refuseUse(reading, use, path)
  if (reading.routing === undefined) return 'mcp'
  const { mcp_servers = {} } = reading.routing
  const found = findMcpServer(mcp_servers, server)
  if (found !== undefined) return readServerTool(reading, { server, tool, allowed: found.tools }, path)
  const servers = Object.keys(mcp_servers)
  const known = [...servers.map((name) => `${name}.TOOL`), ...Object.keys(BUILTIN_TOOLS), 'dag.NAME', './steps/NAME.ts']
  const near = suggest(use, Object.keys(BUILTIN_TOOLS)) ?? suggest(server, servers)
  return refuse(
    reading,
    path,
    `names the tool ${quoted(use)}, and there is no server ${quoted(server)} under mcp_servers; tools are ${listed(known)}`,
    didYouMean(near) ?? 'Add the server under mcp_servers in sluice.yaml.',
  )
}

interface NamedTool {
  readonly server: string
  readonly tool: string
  readonly allowed: AllowedTools
}

/** Which tools there are the server says; which may be called, the settings. */
function readServerTool(reading: Reading, { server, tool, allowed }: NamedTool, path: Path): 'mcp' | undefined {
  if (isAllowedTool(allowed, tool)) return 'mcp'
  const names = 'all' in allowed ? [] : allowed
  return refuse(
    reading,
    path,
    `names the tool ${quoted(tool)} of the server ${quoted(server)}, which mcp_servers.${server}.tools does not allow; allowed are ${listed(names)}`,
    didYouMean(suggest(tool, names)) ?? 'Add it there.',
  )
}

function readStepTool(reading: Reading, use: string, path: Path): 'step' | undefined {
  const { steps } = reading
  if (!STEP_PATH.test(use)) {
    const what = 'which is no path of a step; allowed are ./ and names of letters, digits, "_", "." and "-"'
    return refuse(reading, path, `names the tool ${quoted(use)}, ${what}`)
  }
  const step = steps !== undefined && Object.hasOwn(steps, use) ? steps[use] : undefined
  if (steps === undefined || (step !== undefined && !('problem' in step))) return 'step'
  const why =
    step === undefined ? 'which the project does not have' : `which cannot be taken: ${step.problem.replace(/\.$/, '')}`
  return refuse(reading, path, `names the tool ${quoted(use)}, ${why}`)
}

function refuseUse(reading: Reading, use: string, path: Path): undefined {
  const known = ['SERVER.TOOL', './steps/NAME.ts', 'dag.NAME', ...Object.keys(BUILTIN_TOOLS)]
  const near = didYouMean(suggest(use, Object.keys(BUILTIN_TOOLS)))
  return refuse(reading, path, `names the tool ${quoted(use)}; tools are ${listed(known)}`, near)
}

function refuseConfig(reading: Reading, use: string, path: Path): void {
  refuse(reading, path, `gives ${quoted(use)} a "config", which only steps of the project have`, 'Remove it.')
}

function refuse({ problems }: Reading, path: Path, text: string, hint?: string): undefined {
  problems.push({ code: 'unknown_tool', path, say: ({ who }) => ({ text: `${who} ${text}`, hint }) })
}

/** `approval: true`, or as the approval of a block, with `when` and `allow_rest` of its own. */
function readToolApproval(
  reading: Reading,
  given: Json | undefined,
  path: Path,
  use: string,
): ToolApproval | undefined {
  if (given === undefined || given === false) return undefined
  const mapping: Mapping | undefined = given === true ? {} : readMapping(reading, given, path)
  if (mapping === undefined) return undefined
  const { when: condition, allow_rest, ...rest } = mapping
  const when = readCondition(reading, condition, [...path, 'when'], ['args'])
  const prompt = rest.prompt ?? `Let the agent call ${use}?`
  const anyArgument: ReadonlyMap<string, unknown> = ANY_NAME
  const policy = readApproval(reading, { ...rest, prompt }, path, { name: use, inputs: anyArgument })
  if (allow_rest !== undefined && typeof allow_rest !== 'boolean') {
    const say: Problem['say'] = ({ place }) => ({ text: `${place} must be true or false` })
    reading.problems.push({ code: 'wrong_type', path: [...path, 'allow_rest'], say })
  }
  if (policy === undefined) return undefined
  return { ...(when === undefined ? {} : { when: when.text }), policy, allow_rest: allow_rest === true }
}

/** Which arguments there are is the tool's to say, and known when the run starts. */
const ANY_NAME = new (class extends Map<string, unknown> {
  override has(): boolean {
    return true
  }
})()
