import * as z from 'zod'
import type { Json } from '../../text/json.ts'
import { safeOneLine } from '../../text/redact.ts'
import type { CheckResult, Gate, GateFacts } from '../gate.ts'
import type { GatePorts, LimitedAnswer } from '../gate-ports.ts'
import { PortNameSchema, readPort } from '../read-facts.ts'
import { UrlSchema } from './gate-url.ts'

/** Bytes of JSON that are sent. */
const MAX_BYTES = 262_144

const WebhookSchema = z.strictObject({
  url: UrlSchema,
  ports: z
    .array(PortNameSchema)
    .min(1)
    .max(20)
    .refine((ports) => new Set(ports).size === ports.length, 'a port is named twice'),
  /** Sent as it is, so that one endpoint can serve several gates. */
  label: z.string().min(1).max(200).optional(),
  timeout_ms: z.int().min(1).max(30_000).default(5_000),
})

type Webhook = z.infer<typeof WebhookSchema>

const AnswerSchema = z.strictObject({ pass: z.boolean(), reason: z.string().optional() })

/** An endpoint of the author's decides. The URL stands in the document: no value ever makes one. */
export const webhook: Gate<Webhook> = {
  type: 'webhook',
  summary:
    'Passes when the URL, sent `{"v": 1, "label"?, "ports": {name: value}}` by POST, answers a status of 200 to 299 with the JSON `{"pass": true, "reason"?}`; any other answer than `{"pass": false, "reason"?}` is an error, no redirect is followed.',
  params: WebhookSchema,
  reads: ({ ports }) => ports,
  examples: [
    {
      check: { url: 'https://example.com/judge', ports: ['plan'] },
      outputs: { plan: 'Ship it.' },
      passes: true,
      needs: 'http',
    },
    { check: { url: 'http://10.0.0.1/judge', ports: ['plan'] }, outputs: { plan: 'x' }, passes: false, needs: 'http' },
  ],
  check: checkWebhook,
}

async function checkWebhook(
  params: Webhook,
  facts: GateFacts,
  { http }: Pick<GatePorts, 'http'>,
): Promise<CheckResult> {
  const { url, ports, label, timeout_ms } = params
  const values = Object.fromEntries(ports.map((port) => [port, readPort(facts, port) ?? null]))
  const body: Json = { v: 1, ...(label === undefined ? {} : { label }), ports: values }
  const bytes = Buffer.byteLength(JSON.stringify(body))
  if (bytes > MAX_BYTES) {
    const reason = `the ports have ${bytes} bytes of JSON, a webhook is sent at most ${MAX_BYTES}`
    return { passed: false, unfit: true, reason, facts: { url, bytes } }
  }
  if (http === undefined) return noDecision(url, 'webhook gates cannot ask anybody here')
  const answer = await http.request({ method: 'POST', url, timeout_ms, body })
  const read = readAnswer(answer)
  if (typeof read === 'string') return noDecision(url, `webhook ${safeOneLine(url, 80)} ${read}`)
  const said = read.reason === undefined || read.reason.trim() === '' ? 'no reason' : safeOneLine(read.reason, 200)
  return { passed: read.pass, reason: `the webhook says ${read.pass ? 'yes' : 'no'}: ${said}`, facts: { url } }
}

/** What the endpoint decided; a text = it did not, in words. */
function readAnswer(answer: LimitedAnswer): z.infer<typeof AnswerSchema> | string {
  if (answer.kind === 'refused') return `is not allowed: ${answer.reason}`
  if (answer.kind === 'failed') return `had no answer: ${answer.reason}`
  const { status, body, body_cut } = answer
  if (status < 200 || status > 299) return `answered ${status}, 200 to 299 is wanted`
  if (body_cut === true) return 'answered more than 64 KiB'
  const parsed = AnswerSchema.safeParse(jsonOf(body))
  return parsed.success ? parsed.data : 'did not answer {"pass": true or false, "reason"?: text}'
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function noDecision(url: string, reason: string): CheckResult {
  return { passed: false, error: true, reason, facts: { url } }
}
