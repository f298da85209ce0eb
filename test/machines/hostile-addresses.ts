import type { HostileCheck } from './hostile-checks.ts'

/** Addresses no gate may reach, in the spellings people hide them in; a model wrote them into the port. */
const WRITTEN: readonly (readonly [url: string, says: RegExp])[] = [
  ['http://127.0.0.1/', /not public \(loopback\)/],
  ['http://localhost/', /this machine/],
  ['http://LOCALHOST/', /this machine/],
  ['http://app.localhost/', /this machine/],
  ['http://localhost./', /ends with a dot/],
  ['http://127.1/', /no host as it is written/],
  ['http://2130706433/', /no host as it is written/],
  ['http://0x7f000001/', /no host as it is written/],
  ['http://0x7f.0.0.1/', /no host as it is written/],
  ['http://0177.0.0.1/', /no host as it is written/],
  ['http://127.0.0.1./', /no host as it is written|ends with a dot/],
  ['http://%31%32%37.0.0.1/', /no host as it is written/],
  ['http://①②⑦.0.0.1/', /percent-encoded/],
  ['http://127。0。0。1/', /percent-encoded/],
  ['http:/127.0.0.1/', /no host as it is written/],
  ['http:\\\\127.0.0.1/', /percent-encoded/],
  [' http://127.0.0.1/', /percent-encoded/],
  ['http://example.com@127.0.0.1/', /user name/],
  ['http://example.com:80@127.0.0.1/', /user name/],
  ['http://[::1]/', /loopback/],
  ['http://[0:0:0:0:0:0:0:1]/', /loopback/],
  ['http://[::ffff:127.0.0.1]/', /not public/],
  ['http://[::ffff:7f00:1]/', /not public/],
  ['http://[::127.0.0.1]/', /no global IPv6/],
  ['http://[64:ff9b::7f00:1]/', /no global IPv6/],
  ['http://[2002:7f00:1::]/', /tunnel/],
  ['http://[fe80::1]/', /no global IPv6/],
  ['http://[fe80::1%25eth0]/', /is not one/],
  ['http://[fd00:ec2::254]/', /no global IPv6/],
  ['http://0.0.0.0/', /this network/],
  ['http://0/', /no host as it is written/],
  ['http://10.0.0.1/', /private/],
  ['http://172.31.255.255/', /private/],
  ['http://192.168.1.1/', /private/],
  ['http://169.254.169.254/latest/meta-data/', /metadata/],
  ['http://169.254.170.2/v2/credentials', /metadata/],
  ['http://100.64.0.1/', /customers/],
  ['http://168.63.129.16/', /cloud/],
  ['http://255.255.255.255/', /reserved/],
  ['https://example.com:22/', /port 22 is not allowed/],
  ['https://abc123.execute-api.eu-west-1.amazonaws.com/', /own API/],
  ['file:///etc/passwd', /http or https/],
  ['gopher://127.0.0.1:70/', /http or https/],
  ['data:text/html,x', /http or https/],
]

/** Names that lead where no gate may go; the addresses are what the name server says. */
const NAMED: readonly (readonly [addresses: readonly string[], says: RegExp])[] = [
  [['127.0.0.1'], /not public \(loopback\)/],
  [['::ffff:169.254.169.254'], /not public/],
  [['10.0.0.1', 'fd00::1'], /not public \(private\)/],
  [['fe80::1%eth0'], /not public/],
  [[], /no address/],
]

export const HOSTILE_ADDRESSES: readonly HostileCheck[] = [
  ...WRITTEN.map(([url, says]) => ask(url, url, says)),
  ...NAMED.map(([addresses, says]) => ({
    ...ask(`a name that leads to ${addresses.join(' and ') || 'nothing'}`, 'http://rebound.example/', says),
    addresses,
  })),
]

function ask(name: string, url: string, says: RegExp): HostileCheck {
  return { name, check: { type: 'http', port: 'a' }, port: url, status: 'failed', says }
}
