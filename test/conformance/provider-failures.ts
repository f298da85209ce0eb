import { broken, event, exception, frames, refusal } from '../emulators/bedrock-server.ts'
import { hang, json, raw } from '../emulators/provider-server.ts'
import type { Failure } from './provider-suite.ts'

const begun = [event('messageStart', { role: 'assistant' }), delta('Gr')]

function delta(text: string): Buffer {
  return event('contentBlockDelta', { contentBlockIndex: 0, delta: { text } })
}

/** Failures as Bedrock tells them: a status and a name before an answer, a message of the stream within one. */
export const BEDROCK_FAILURES: readonly Failure[] = [
  ['ThrottlingException', refusal(429, 'ThrottlingException', 'Too many tokens'), 'Unavailable', 'provider_throttled'],
  [
    'ServiceQuotaExceededException',
    refusal(400, 'ServiceQuotaExceededException', 'quota'),
    'Unavailable',
    'provider_throttled',
  ],
  ['ModelTimeoutException', refusal(408, 'ModelTimeoutException', 'slow'), 'Unavailable', 'provider_timeout'],
  ['ModelNotReadyException', refusal(429, 'ModelNotReadyException', 'wait'), 'Unavailable', 'provider_unavailable'],
  ['ModelErrorException', refusal(424, 'ModelErrorException', 'failed'), 'Unavailable', 'provider_unavailable'],
  [
    'ServiceUnavailableException',
    refusal(503, 'ServiceUnavailableException', 'busy'),
    'Unavailable',
    'provider_unavailable',
  ],
  ['InternalServerException', refusal(500, 'InternalServerException', 'oh'), 'Unavailable', 'provider_unavailable'],
  ['429 without a name', json(429, {}), 'Unavailable', 'provider_throttled'],
  ['503 of a gateway', raw(503, '<html>busy</html>'), 'Unavailable', 'provider_unavailable'],
  ['AccessDeniedException', refusal(403, 'AccessDeniedException', 'arn:aws:iam::1:x'), 'Rejected', 'provider_refused'],
  ['ResourceNotFoundException', refusal(404, 'ResourceNotFoundException', 'no'), 'Rejected', 'provider_refused'],
  ['ValidationException', refusal(400, 'ValidationException', 'too long'), 'Rejected', 'provider_refused'],
  ['silence', hang, 'Unavailable', 'provider_timeout'],
  ['silence after a beginning', frames(begun, 'open'), 'Unavailable', 'provider_timeout'],
  ['a broken stream', broken, 'Unavailable', 'provider_unavailable'],
  ['a stream broken after a beginning', frames(begun, 'cut'), 'Unavailable', 'provider_unavailable'],
  ['a stream that ends without its end', frames(begun), 'Unavailable', 'provider_unavailable'],
  ['half a message', frames([...begun, delta('Gr').subarray(0, 20)]), 'Unavailable', 'provider_unavailable'],
  [
    'a throttle inside a stream',
    frames([...begun, exception('throttlingException', 'slow down')]),
    'Unavailable',
    'provider_throttled',
  ],
  [
    'an error of the model inside a stream',
    frames([...begun, exception('modelStreamErrorException', 'failed')]),
    'Unavailable',
    'provider_unavailable',
  ],
  ['a refused input inside a stream', frames([exception('validationException', 'no')]), 'Rejected', 'provider_refused'],
  [
    'a filter',
    frames([...begun, event('messageStop', { stopReason: 'content_filtered' })]),
    'Rejected',
    'provider_refused',
  ],
  [
    'a guardrail',
    frames([...begun, event('messageStop', { stopReason: 'guardrail_intervened' })]),
    'Rejected',
    'provider_refused',
  ],
  [
    'more than 8 MiB',
    frames([
      ...Array.from({ length: 9 }, () => delta('x'.repeat(1_048_576))),
      event('messageStop', { stopReason: 'end_turn' }),
    ]),
    'InvalidInput',
    'provider_invalid',
  ],
  [
    'a call of a tool nobody offered',
    frames([
      event('contentBlockStart', { contentBlockIndex: 0, start: { toolUse: { toolUseId: 't', name: 'search' } } }),
      event('messageStop', { stopReason: 'tool_use' }),
    ]),
    'InvalidInput',
    'provider_invalid',
  ],
]
