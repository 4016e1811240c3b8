// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

/// Keeps the hashes of a tether service's reports, each for ever at its index.
contract Anchor {
    event Pinned(uint256 indexed index, bytes32 hash);

    address public immutable owner = msg.sender;
    bytes32[] private hashes;

    error NotOwner();
    error WrongIndex(uint256 expected);

    /// The index is named by the caller, so that a transaction that is sent twice pins once.
    function pin(uint256 index, bytes32 hash) external {
        if (msg.sender != owner) revert NotOwner();
        if (index != hashes.length) revert WrongIndex(hashes.length);
        hashes.push(hash);
        emit Pinned(index, hash);
    }

    function count() external view returns (uint256) {
        return hashes.length;
    }

    function hashAt(uint256 index) external view returns (bytes32) {
        return hashes[index];
    }
}
