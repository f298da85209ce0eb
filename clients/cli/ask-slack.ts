import * as z from 'zod'

/** What auth.test tells about a token. Without `error` it is good. */
export interface SlackAnswer {
  readonly ok: boolean
  /** Slack's word, or why it could not be reached. */
  readonly error?: string
  readonly reached: boolean
  readonly team_id?: string
  readonly scopes: readonly string[]
  /** Slack's time, ms since 1970. */
  readonly clock?: number
}

const TIMEOUT_MS = 5_000

const AnswerSchema = z.looseObject({ ok: z.boolean(), error: z.string().optional(), team_id: z.string().optional() })

/** Asks Slack whose token it is, and what it may do. */
export async function askSlack(api_url: string, token: string): Promise<SlackAnswer> {
  try {
    const response = await fetch(`${api_url.replace(/\/+$/, '')}/auth.test`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    const { ok, error, team_id } = AnswerSchema.parse(await response.json())
    const clock = Date.parse(response.headers.get('date') ?? '')
    return {
      ok,
      reached: true,
      scopes: (response.headers.get('x-oauth-scopes') ?? '').split(',').map((scope) => scope.trim()),
      ...(ok ? {} : { error: error ?? 'an unknown error' }),
      ...(team_id === undefined ? {} : { team_id }),
      ...(Number.isNaN(clock) ? {} : { clock }),
    }
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error)
    return { ok: false, reached: false, error: cause, scopes: [] }
  }
}
