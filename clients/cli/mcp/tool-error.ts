import type { CallToolResult } from '@modelcontextprotocol/server'
import { Fault, type Issue } from '../../../shared/errors.ts'
import { type Place, Refused } from '../refused.ts'

interface Told {
  readonly code: string
  readonly detail: string
  readonly hint?: string
  /** HTTP status, where a server refused. */
  readonly status?: number
  readonly errors?: readonly Pick<Place, 'path' | 'message' | 'hint'>[]
}

/** Errors in one answer. */
const MOST = 20

/** Whatever went wrong in a tool, as its answer: the server goes on. */
export function toolError(error: unknown, signal: AbortSignal): CallToolResult {
  if (signal.aborted) return told({ code: 'cancelled', detail: 'The call was cancelled; a run it watched goes on.' })
  if (error instanceof Refused) {
    const { code, detail, errors = [] } = error.reason
    const hint = HINTS[code] ?? errors.find((one) => one.hint !== undefined)?.hint
    return told({
      code,
      detail,
      ...(hint === undefined ? {} : { hint }),
      ...(error.status === undefined ? {} : { status: error.status }),
      ...(errors.length === 0 ? {} : { errors: errors.slice(0, MOST) }),
    })
  }
  if (error instanceof Fault) return told({ code: error.code, detail: error.message })
  const detail = `The tool itself failed, which is a bug: ${error instanceof Error ? error.message : String(error)}`
  return told({ code: 'bug', detail })
}

/** Arguments that do not fit the schema of the tool. */
export function refusedArguments(name: string, errors: readonly Issue[]): CallToolResult {
  const detail = `Cannot call ${name}: its arguments do not fit its schema.`
  const hint = errors.find((one) => one.hint !== undefined)?.hint ?? 'tools/list has the schema.'
  return told({ code: 'invalid_arguments', detail, hint, errors })
}

/** A number in the arguments that a double would change. */
export function inexactArguments(name: string, words: string): CallToolResult {
  return told({ code: 'number_inexact', detail: `Cannot call ${name}: in its arguments ${words}.` })
}

/** What to do, where the server's own words are for people at a shell or it gives none. */
const HINTS: Readonly<Record<string, string>> = {
  no_server: 'Run `sluice start` in the project, or start `sluice mcp` with --url or SLUICE_URL.',
  not_sluice: 'Something else answers there: start `sluice mcp` with the --url of a Sluice server.',
  unauthenticated: 'Give `sluice mcp` a token in SLUICE_TOKEN.',
  unknown_run: 'list_runs shows the runs there are.',
  unknown_approval: 'list_approvals shows what people are asked.',
  digest_changed: 'What is asked has changed: call list_approvals and look at it again.',
}

function told(error: Told): CallToolResult {
  const { code, detail, hint, errors = [] } = error
  const lines = [
    `${code}: ${detail}`,
    ...errors.map(({ path, message }) => `- ${path === '' ? '' : `${path}: `}${message}`),
    ...(hint === undefined ? [] : [hint]),
  ]
  return { isError: true, content: [{ type: 'text', text: lines.join('\n') }], structuredContent: { error } }
}
