import Foundation
import Testing

@testable import LoopbackHTTP

/// Vectors of Project Wycheproof for ECDSA on P-256 with SHA-256, by their numbers there.
@Suite("Signatures of P-256: Wycheproof")
struct WycheproofTests {
  private static let message = Array("123400".utf8)

  private func bytes(_ hex: String) -> [UInt8] {
    stride(from: 0, to: hex.utf8.count, by: 2).compactMap { start in
      UInt8(hex.dropFirst(start).prefix(2), radix: 16)
    }
  }

  private func isValid(_ signature: String, by key: String) -> Bool {
    guard let key = PublicKey(bytes: bytes(key)), let signature = Signature(der: bytes(signature))
    else { return false }
    return key.isValid(signature, of: Self.message)
  }

  @Test("Only the DER form of a signature is accepted")
  func onlyDERIsAccepted() {
    let key =
      "042927b10512bae3eddcfe467828128bad2903269919f7086069c8c4df6c732838"
      + "c7787964eaac00e5921fb1498a60f4606766b3d9685001558d1a974e7341513e"
    let (r, s) = (
      "2ba3a8be6b94d5ec80a6d9d1190a436effe50d85a1eee859b8cc6af9bd5c2e18",
      "b329f479a2bbd0a5c384ee1493b1f5186a87139cac5df4087c134b49156847db"
    )
    let other = "4cd60b855d442f5b3c7b11eb6c4e0ae7525fe710fab9aa7c77a67f79e6fadd76"
    let (first, second) = ("0220" + r, "022100" + s)
    let cases: [(number: Int, signature: String, isValid: Bool)] = [
      (1, "3044" + first + "0220" + other, true), (2, "3044" + first + "0220" + s, false),
      (3, "3045" + first + second, true), (4, "308145" + first + second, false),
      (5, "30820045" + first + second, false), (6, "3046" + first + second, false),
      (7, "3044" + first + second, false), (8, "30850100000045" + first + second, false),
      (9, "3089010000000000000045" + first + second, false),
      (10, "30847fffffff" + first + second, false), (11, "3084ffffffff" + first + second, false),
      (12, "3085ffffffffff" + first + second, false),
      (13, "3088ffffffffffffffff" + first + second, false), (14, "30ff" + first + second, false),
      (15, "3080" + first + second, false), (16, "30450280" + r + second, false),
      (17, "3045" + first + "028000" + s, false), (18, "", false), (19, "30", false),
      (20, "3047" + first + second + "0000", false), (21, "30470000" + first + second, false),
      (22, "3045" + first + second + "0000", false),
      (23, "3047" + first + second + "0500", false),
      (24, "304a4981773045" + first + second, false),
      (25, "304925003045" + first + second, false),
      (26, "30473045" + first + second + "0004deadbeef", false),
      (27, "304a2225498177" + first + second, false),
      (28, "304922242500" + first + second, false),
      (29, "304d2222" + first + "0004deadbeef" + second, false),
      (30, "304a" + first + "2226498177" + second, false),
      (31, "3049" + first + "22252500" + second, false),
      (32, "304d" + first + "2223" + second + "0004deadbeef", false),
      (33, "304daa00bb00cd003045" + first + second, false),
      (34, "304baa02aabb3045" + first + second, false),
      (35, "304d2228aa00bb00cd00" + first + second, false),
      (36, "304b2226aa02aabb" + first + second, false),
      (37, "304d" + first + "2229aa00bb00cd00" + second, false),
      (38, "304b" + first + "2227aa02aabb" + second, false), (39, "3081", false),
      (40, "30803045" + first + second + "0000", false),
    ]
    for one in cases {
      #expect(isValid(one.signature, by: key) == one.isValid, "number \(one.number)")
    }
  }

  @Test("Numbers at the ends of their range are computed with correctly")
  func edgesOfArithmetic() {
    let (r, most) = (
      "0220555555550000000055555555555555553ef7a8e48d07df81a693439654210c70",
      "02207ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffd"
    )
    let cases: [(number: Int, x: String, y: String, signature: String)] = [
      (
        308, "d8adc00023a8edc02576e2b63e3e30621a471e2b2320620187bf067a1ac1ff32",
        "33e2b50ec09807accb36131fff95ed12a09a86b4ea9690aa32861576ba2362e1",
        "3044" + r + "022044a5ad0ad0636d9f12bc9e0a6bdd5e1cbcb012ea7bf091fcec15b0c43202d52e"
      ),
      (
        309, "3623ac973ced0a56fa6d882f03a7d5c7edca02cfc7b2401fab3690dbe75ab785",
        "8db06908e64b28613da7257e737f39793da8e713ba0643b92e9bb3252be7f8fe", "3044" + r + r
      ),
      (
        310, "cf04ea77e9622523d894b93ff52dc3027b31959503b6fa3890e5e04263f922f1",
        "e8528fb7c006b3983c8b8400e57b4ed71740c2f3975438821199bedeaecab2e9",
        "3045" + r + "022100aaaaaaaa00000000aaaaaaaaaaaaaaaa7def51c91a0fbf034d26872ca84218e1"
      ),
      (
        311, "db7a2c8a1ab573e5929dc24077b508d7e683d49227996bda3e9f78dbeff77350",
        "4f417f3bc9a88075c2e0aadd5a13311730cf7cc76a82f11a36eaf08a6c99a206",
        "3045" + most + "022100e91e1ba60fdedb76a46bcb51dc0b8b4b7e019f0a28721885fa5d3a8196623397"
      ),
      (
        312, "dead11c7a5b396862f21974dc4752fadeff994efe9bbd05ab413765ea80b6e1f",
        "1de3f0640e8ac6edcf89cff53c40e265bb94078a343736df07aa0318fc7fe1ff",
        "3045" + most + "022100fdea5843ffeb73af94313ba4831b53fe24f799e525b1e8e8c87b59b95b430ad9"
      ),
      (
        313, "d0bc472e0d7c81ebaed3a6ef96c18613bb1fea6f994326fbe80e00dfde67c7e9",
        "986c723ea4843d48389b946f64ad56c83ad70ff17ba85335667d1bb9fa619efd",
        "3044" + most + "022003ffcabf2f1b4d2a65190db1680d62bb994e41c5251cd73b3c3dfc5e5bafc035"
      ),
      (
        314, "a0a44ca947d66a2acb736008b9c08d1ab2ad03776e02640f78495d458dd51c32",
        "6337fe5cf8c4604b1f1c409dc2d872d4294a4762420df43a30a2392e40426add",
        "3044" + most + "02204dfbc401f971cd304b33dfdb17d0fed0fe4c1a88ae648e0d2847f74977534989"
      ),
      (
        315, "c9c2115290d008b45fb65fad0f602389298c25420b775019d42b62c3ce8a96b7",
        "3877d25a8080dc02d987ca730f0405c2c9dbefac46f9e601cc3f06e9713973fd",
        "3045" + most + "022100bc4024761cd2ffd43dfdb17d0fed112b988977055cd3a8e54971eba9cda5ca71"
      ),
      (
        316, "5eca1ef4c287dddc66b8bccf1b88e8a24c0018962f3c5e7efa83bc1a5ff6033e",
        "5e79c4cb2c245b8c45abdce8a8e4da758d92a607c32cd407ecaef22f1c934a71",
        "3044" + most + "0220788048ed39a5ffa77bfb62fa1fda2257742bf35d128fb3459f2a0c909ee86f91"
      ),
      (
        317, "5caaa030e7fdf0e4936bc7ab5a96353e0a01e4130c3f8bf22d473e317029a47a",
        "deb6adc462f7058f2a20d371e9702254e9b201642005b3ceda926b42b178bef9",
        "3044" + most + "0220476d9131fd381bd917d0fed112bc9e0a5924b5ed5b11167edd8b23582b3cb15e"
      ),
      (
        318, "c2fd20bac06e555bb8ac0ce69eb1ea20f83a1fc3501c8a66469b1a31f619b098",
        "6237050779f52b615bd7b8d76a25fc95ca2ed32525c75f27ffc87ac397e6cbaf",
        "3045" + most + "0221008374253e3e21bd154448d0a8f640fe46fafa8b19ce78d538f6cc0a19662d3601"
      ),
    ]
    for one in cases {
      #expect(isValid(one.signature, by: "04" + one.x + one.y), "number \(one.number)")
    }
  }
}
