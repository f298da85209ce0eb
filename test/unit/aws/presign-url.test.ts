import { expect, test } from 'vitest'
import { presignUrl } from '../../../functions/aws/uploads.ts'

/** The worked example of AWS's documentation, "Authenticating requests: using query parameters". */
test('presignUrl() signs as AWS documents it', () => {
  const url = presignUrl('GET', {
    protocol: 'https:',
    host: 'examplebucket.s3.amazonaws.com',
    path: '/test.txt',
    headers: {},
    region: 'us-east-1',
    expires_sec: 86_400,
    now: new Date('2013-05-24T00:00:00.000Z'),
    credentials: {
      accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
      secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
    },
  })
  expect(url).toBe(
    'https://examplebucket.s3.amazonaws.com/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404',
  )
})

test('the headers whoever sends it must send are signed, and a session is told', () => {
  const asked = {
    protocol: 'https:',
    host: 'b.s3.eu-central-1.amazonaws.com',
    path: '/main/objects/aa/aa',
    headers: { 'content-length': '5', 'x-amz-checksum-sha256': 'abc=' },
    region: 'eu-central-1',
    expires_sec: 900,
    now: new Date('2026-11-22T08:00:00.000Z'),
    credentials: { accessKeyId: 'A', secretAccessKey: 's', sessionToken: 'to/ken=' },
  }
  const url = presignUrl('PUT', asked)
  expect(url).toContain('X-Amz-SignedHeaders=content-length%3Bhost%3Bx-amz-checksum-sha256&X-Amz-Signature=')
  expect(url).toContain('&X-Amz-Security-Token=to%2Fken%3D&')
  const other = presignUrl('PUT', { ...asked, headers: { ...asked.headers, 'content-length': '6' } })
  expect(other).not.toBe(url)
})
